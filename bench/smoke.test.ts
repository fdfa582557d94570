import { describe, expect, it } from "vitest";
import type { Result } from "./results.js";
import { fallenWhenMeasured, sentenceAbout, smokeCases } from "./smoke.js";

const kept = Object.fromEntries(smokeCases.map((name) => [`${name} rate`, { bullmq: 8 }]));

/** Measures nothing: the n-th time, each case is as many times as good as the n-th record says, or 8 times. */
function measuring(...times: readonly Record<string, number>[]) {
  const asked: (readonly string[])[] = [];
  const measure = async (cases: readonly string[]): Promise<Result[]> => {
    const found = times[asked.length] ?? {};
    asked.push(cases);
    return cases.map((name) => ({
      case: name,
      title: name,
      figure: { name: "rate", unit: "messages/s", better: "more" },
      subjects: {},
      ratios: { bullmq: found[name] ?? 8 },
    }));
  };
  return { asked, measure };
}

const fallenOf = ({ measure }: ReturnType<typeof measuring>, lines: string[] = []) =>
  fallenWhenMeasured(measure, kept, (line) => lines.push(line));

describe("A smoke run", () => {
  it("measures once when nothing has fallen.", async () => {
    const run = measuring();
    expect(await fallenOf(run)).toEqual([]);
    expect(run.asked).toEqual([smokeCases]);
  });

  it("measures what has fallen once more, and nothing else, and forgives what recovered.", async () => {
    const run = measuring({ "drain-1000": 2 });
    const lines: string[] = [];
    expect(await fallenOf(run, lines)).toEqual([]);
    expect(run.asked).toEqual([smokeCases, ["drain-1000"]]);
    expect(lines).toEqual(["drain-1000 rate is 2 times that of bullmq, under half of the 8 that it was. Once more:"]);
  });

  it("gives what has fallen twice.", async () => {
    const run = measuring({ "bulk-schedule": 3, "drain-1000": 2 }, { "drain-1000": 1.5 });
    expect((await fallenOf(run)).map(sentenceAbout)).toEqual([
      "drain-1000 rate is 1.5 times that of bullmq, under half of the 8 that it was.",
    ]);
  });
});
