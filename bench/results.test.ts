import { describe, expect, it } from "vitest";
import { resultsOf } from "./results.js";
import { textTables } from "./table.js";

const late = {
  name: "lateness",
  title: "Lateness",
  figures: [
    { name: "p50", unit: "ms", better: "less" },
    { name: "rate", unit: "messages/s", better: "more" },
  ],
} as const;

const found = new Map([
  ["punctual", [1, 3, 2].map((p50) => ({ p50, rate: 1_000 * p50 }))],
  ["bullmq", [40, 20, 60].map((p50) => ({ p50, rate: 250 }))],
]);

describe("The results of a case", () => {
  it("have a summary of each subject for each figure, and how many times as good punctual is.", () => {
    const [p50, rate] = resultsOf(late, found);
    expect(p50?.subjects["bullmq"]).toMatchObject({ median: 40, min: 20, max: 60 });
    expect(p50?.ratios).toEqual({ bullmq: 20 });
    expect(rate?.ratios).toEqual({ bullmq: 8 });
  });

  it("have no ratios where punctual takes no part.", () => {
    const others = new Map([...found].filter(([name]) => name !== "punctual"));
    expect(resultsOf(late, others).map(({ ratios }) => ratios)).toEqual([{}, {}]);
  });

  it.each([
    ["punctual", "bullmq"],
    ["bullmq", "punctual"],
  ])("have no ratio where %s found 0, whether more or less is better.", (nothing, something) => {
    const both = new Map([
      [nothing, [{ p50: 0, rate: 0 }]],
      [something, [{ p50: 2, rate: 3 }]],
    ]);
    expect(resultsOf(late, both).map(({ ratios }) => ratios)).toEqual([{}, {}]);
  });

  it("are refused when a run found nothing of a figure.", () => {
    expect(() => resultsOf(late, new Map([["punctual", [{ p50: 1 }]]]))).toThrow("A run found no rate.");
  });

  it("stand in tables that say what is counted and whether less is better.", () => {
    expect(`\n${textTables(resultsOf(late, found))}\n`).toBe(`
Lateness, p50, ms (less is better)

  subject   median  min  max  punctual is … times as good
  punctual       2    1    3
  bullmq        40   20   60                           20

Lateness, messages/s

  subject   median    min    max  punctual is … times as good
  punctual   2,000  1,000  3,000
  bullmq       250    250    250                            8
`);
  });
});
