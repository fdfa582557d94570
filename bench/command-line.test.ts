import { describe, expect, it } from "vitest";
import { parseCommandLine } from "./command-line.js";
import { scenarios } from "./scenarios.js";
import { subjects } from "./subjects.js";

describe("The command line of the benchmark", () => {
  it("asks for every case but the largest, and every subject, when it says nothing.", () => {
    const { cases, subjects: chosen, runs } = parseCommandLine([]);
    const all = scenarios.flatMap((scenario) => scenario.cases);
    expect(cases).toEqual(all.filter(({ name }) => name !== "growth-10000000"));
    expect(chosen).toEqual(subjects);
    expect(runs).toBe(5);
  });

  it("takes scenarios and single cases by their names, in the order of the tables.", () => {
    const { cases } = parseCommandLine(["--only", "drain-1000, bulk-schedule"]);
    expect(cases.map(({ name }) => name)).toEqual(["bulk-schedule", "drain-1000"]);
    expect(parseCommandLine(["--only", "drain"]).cases.map(({ name }) => name)).toEqual(["drain-100", "drain-1000"]);
  });

  it("takes the largest case by its own name, and not by that of its scenario.", () => {
    const namesOf = (only: string) => parseCommandLine(["--only", only]).cases.map(({ name }) => name);
    expect(namesOf("growth")).toEqual(["growth-10000", "growth-1000000"]);
    expect(namesOf("growth-10000000")).toEqual(["growth-10000000"]);
  });

  it("takes results from several files, and measures when there are none.", () => {
    expect(parseCommandLine(["--from", "a.json", "--from", "b.json"]).from).toEqual(["a.json", "b.json"]);
    expect(parseCommandLine([]).from).toEqual([]);
  });

  it.each([
    [["--only", "drains"], 'There is no scenario or case "drains"; the scenarios are bulk-schedule, '],
    [["--subjects", "bull"], 'There is no subject "bull"; there are punctual, bullmq, '],
    [["--runs", "0"], '--runs takes a whole number from 1 to 100, not "0".'],
    [["--runs", "5x"], '--runs takes a whole number from 1 to 100, not "5x".'],
    [["--keep"], "--keep keeps the ratios of a smoke run: it needs --smoke"],
    [
      ["--smoke", "--only", "drain"],
      "--smoke has its own cases and subjects and only compares or keeps: leave out --only",
    ],
    [["--smoke", "--from", "figures.json"], "leave out --from"],
    [["--smoke", "--subjects", "bullmq"], "leave out --subjects"],
    [["--smoke", "--json", "figures.json", "--write", "page.md"], "leave out --json, --write"],
    [["--smoke", "--keep", "--profile"], "leave out --profile"],
    [
      ["--from", "figures.json", "--profile"],
      "--from measures nothing and takes all of its files: leave out --profile",
    ],
    [["--from", "figures.json", "--runs", "3", "--only", "drain"], "leave out --only, --runs"],
    [["--from", "figures.json", "--subjects", "bullmq"], "leave out --subjects"],
  ])("refuses %j with a sentence.", (args, sentence) => {
    expect(() => parseCommandLine(args)).toThrow(sentence);
  });

  it("asks for a short run of few cases and subjects with --smoke.", () => {
    const { cases, subjects: chosen, scale, smoke, runs } = parseCommandLine(["--smoke"]);
    expect(cases.map(({ name }) => name)).toEqual(["bulk-schedule", "single-1000", "drain-1000"]);
    expect(chosen.map(({ name }) => name)).toEqual(["punctual", "bullmq", "limit"]);
    expect(scale).toBeLessThan(1);
    expect([smoke, runs]).toEqual(["compare", 3]);
    expect(parseCommandLine(["--smoke", "--keep", "--runs", "9"])).toMatchObject({ smoke: "keep", runs: 9 });
  });

  it("knows no two cases of one name.", () => {
    const names = scenarios.flatMap(({ cases }) => cases.map(({ name }) => name));
    expect(new Set(names).size).toBe(names.length);
  });
});
