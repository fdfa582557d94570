import { describe, expect, it } from "vitest";
import { resultsOf, type Results } from "./results.js";
import { asKept, textOf } from "./results-file.js";

const results: Results = {
  date: "2026-01-02T03:04:05.678Z",
  machine: { processors: 2, model: "Some Processor", memoryGiB: 8, system: "Linux 6.1" },
  versions: { redis: "7.0.15" },
  setUps: { punctual: "a list [ 1, 2 ]" },
  runs: 3,
  results: resultsOf(
    { name: "drain-100", title: "Drain", figures: [{ name: "rate", unit: "messages/s", better: "more" }] },
    new Map([["punctual", [1234.56789, 2, 1e-7].map((rate) => ({ rate }))]]),
  ),
};

describe("Results that are kept", () => {
  it("have six digits, and the runs of a figure side by side.", () => {
    expect(textOf(results)).toContain('"runs": [1234.57, 2, 1e-7]\n');
    expect(textOf(results)).toContain('"punctual": "a list [ 1, 2 ]"');
  });

  it("are the same when they are read and kept again.", () => {
    const kept = asKept(results);
    expect(kept.results[0]?.subjects["punctual"]).toEqual({
      median: 2,
      min: 1e-7,
      max: 1234.57,
      runs: [1234.57, 2, 1e-7],
    });
    expect(textOf(kept)).toBe(textOf(results));
  });
});
