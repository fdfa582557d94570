import { describe, expect, it } from "vitest";
import { joined } from "./joined.js";
import type { Results } from "./results.js";

const resultsWith = (cases: readonly string[], rest: Partial<Results> = {}): Results => ({
  date: "2026-01-02T03:04:05.678Z",
  machine: { processors: 2, model: "Some Processor", memoryGiB: 8, system: "Linux 6.1" },
  versions: { redis: "7.0.15" },
  setUps: {},
  runs: 5,
  results: cases.map((name) => ({
    case: name,
    title: name,
    figure: { name: "rate", unit: "messages/s", better: "more" },
    subjects: {},
    ratios: {},
  })),
  ...rest,
});

describe("Results that were found apart", () => {
  it("are put together in the order of the tables, with every set-up.", () => {
    const { results, setUps } = joined([
      resultsWith(["bulk-schedule", "due-at-once"], { setUps: { punctual: "no options" } }),
      resultsWith(["growth-10000000"], { setUps: { limit: "bare" } }),
    ]);
    expect(results.map((result) => result.case)).toEqual(["bulk-schedule", "growth-10000000", "due-at-once"]);
    expect(setUps).toEqual({ punctual: "no options", limit: "bare" });
  });

  it("are refused when they are of other versions, another machine, or another number of runs.", () => {
    const one = resultsWith(["drain-100"]);
    expect(() => joined([one, resultsWith([], { versions: { redis: "7.2.0" } })])).toThrow("put together; versions: ");
    expect(() => joined([one, resultsWith([], { machine: { ...one.machine, processors: 4 } })])).toThrow(
      "put together; machine: ",
    );
    expect(() => joined([one, resultsWith([], { runs: 3 })])).toThrow("put together; runs: 5, 3");
  });

  it("are refused when a subject was set up in two ways.", () => {
    const [one, other] = ["no options", "claimAhead"].map((setUp, at) =>
      resultsWith([["drain-100", "drain-1000"][at]!], { setUps: { limit: "bare", punctual: setUp } }),
    );
    expect(() => joined([one!, other!])).toThrow('set up alike are put together; punctual: "no options", "claimAhead"');
  });

  it("are refused when two are of one case.", () => {
    expect(() => joined([resultsWith(["drain-100"]), resultsWith(["drain-100"])])).toThrow(
      "Two of the files have results of drain-100: leave one of them out",
    );
  });
});
