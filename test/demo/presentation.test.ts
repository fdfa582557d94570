import { describe, expect, it } from "vitest";
import { help, parseCommandLine } from "../../demo/command-line.js";
import { Lateness } from "../../demo/lateness.js";
import type { Figures } from "../../demo/ledger.js";
import { progressBar } from "../../demo/progress-bar.js";
import { histogram, isClean, jsonReport, textReport } from "../../demo/report.js";
import { demoScenario } from "../../demo/scenario.js";

const figures: Figures = {
  scheduled: 12_345,
  delivered: 12_300,
  retried: 12,
  cancelled: 45,
  lost: 0,
  duplicated: 0,
  early: 0,
  lateness: new Lateness([0.1, 0.2, 0.30049, 7]),
  seconds: 6.5,
};

describe("The command line", () => {
  it("runs the scenario of the demo when it says nothing.", () => {
    expect(parseCommandLine([])).toEqual({ wants: "run", json: false, scenario: demoScenario });
    expect(demoScenario).toMatchObject({ messages: 100_000, spread: 5_000, consumers: 10, failOneIn: 1_000 });
  });

  it("takes the number of messages, the seconds, the seed and the form of the figures.", () => {
    expect(parseCommandLine(["--messages", "500", "--seconds=0.5", "--seed", "7", "--json"])).toEqual({
      wants: "run",
      json: true,
      scenario: { ...demoScenario, messages: 500, spread: 500, seed: 7 },
    });
  });

  it.each([
    [["--messages", "0"], '--messages takes a whole number from 1 to 1000000, not "0"'],
    [["--messages", "1e3"], 'not "1e3"'],
    [["--messages=-5"], 'not "-5"'],
    [["--seconds", "0"], '--seconds takes a number from 0.1 to 600, not "0"'],
    [["--seconds", "NaN"], 'not "NaN"'],
    [["--seed", "4294967296"], "--seed takes a whole number"],
    [["--seed", "-1"], '--seed takes a whole number from 0 to 4294967295, not "-1". See npm run demo -- --help.'],
    [["--messages", "--json"], "Option '--messages' argument is ambiguous. See npm run demo -- --help."],
    [["--message", "5"], "Unknown option '--message'"],
    [["--messages"], "--messages <value>"],
    [["--json=yes"], "--json"],
    [["fast"], "Unexpected argument 'fast'"],
  ])("refuses %j with a sentence.", (args, part) => {
    const line = parseCommandLine(args);
    expect(line).toMatchObject({ wants: "refusal" });
    expect(line.wants === "refusal" && line.sentence).toContain(part);
  });

  it("shows help that names every option.", () => {
    expect(parseCommandLine(["--help"])).toEqual({ wants: "help" });
    for (const option of ["--messages", "--seconds", "--seed", "--json", "--help", "REDIS_URL", "Exit status"]) {
      expect(help).toContain(option);
    }
  });
});

describe("The figures", () => {
  it("as JSON have exactly the keys that programs rely on.", () => {
    expect(jsonReport("redis", figures)).toStrictEqual({
      engine: "redis",
      scheduled: 12_345,
      delivered: 12_300,
      retried: 12,
      cancelled: 45,
      lost: 0,
      duplicated: 0,
      early: 0,
      latenessMs: { p50: 0.2, p99: 7, max: 7 },
      seconds: 6.5,
    });
  });

  it("as a table have a line each.", () => {
    const text = textReport("redis", figures);
    for (const line of [
      /engine +redis/,
      /scheduled +12,345/,
      /lost +0/,
      /lateness p99 +7\.0 ms/,
      /messages\/s +1,892/,
    ]) {
      expect(text).toMatch(line);
    }
  });

  it("are clean only when nothing was lost, duplicated or early.", () => {
    expect(isClean(figures)).toBe(true);
    for (const flaw of ["lost", "duplicated", "early"]) expect(isClean({ ...figures, [flaw]: 1 })).toBe(false);
  });

  it("as a histogram have a bar for each range up to the last, and a mark for a single delivery.", () => {
    const lines = histogram(new Lateness([...Array.from({ length: 10_000 }, () => 0.1), 1.5]));
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/0 – 0\.5 ms +█{40} +10,000$/);
    expect(lines[1]).toMatch(/0\.5 – 1 ms +0$/);
    expect(lines[2]).toMatch(/1 – 2 ms +▏ +1$/);
    expect(histogram(new Lateness([]))).toEqual([]);
  });
});

describe("The progress bar", () => {
  function drawn(isTTY: boolean) {
    let text = "";
    const bar = progressBar({ isTTY, write: (part) => (text += part) });
    for (let ended = 0; ended <= 100; ended += 1) bar.update({ messages: 100, scheduled: 100, ended });
    bar.end();
    bar.end();
    return text;
  }

  it("draws over its own line on a terminal, and leaves it once.", () => {
    const text = drawn(true);
    expect(text.match(/\r/g)).toHaveLength(101);
    expect(text.match(/\n/g)).toHaveLength(1);
    expect(text).toMatch(/█{30} 100 % {2}100 of 100\n$/);
  });

  it("writes a line for each quarter elsewhere, without control codes.", () => {
    const text = drawn(false);
    expect(
      text
        .trimEnd()
        .split("\n")
        .map((line) => /\d+ %/.exec(line)?.[0]),
    ).toEqual(["0 %", "25 %", "50 %", "75 %", "100 %"]);
    // oxlint-disable-next-line no-control-regex -- that there is none is what this asks
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);
  });
});
