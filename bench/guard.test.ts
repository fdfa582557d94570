import { describe, expect, it } from "vitest";
import { fallenIn, fallenTwice, ratiosOf } from "./guard.js";
import { keptRatios } from "./guard-file.js";
import type { Result } from "./results.js";
import { caseNamed } from "./scenarios.js";
import { smokeCases, smokeSubjects } from "./smoke.js";

const kept = { "drain-1000 rate": { bullmq: 10, limit: 0.8 } };

function resultWith(ratios: Record<string, number>): Result {
  return {
    case: "drain-1000",
    title: "Drain",
    figure: { name: "rate", unit: "messages/s", better: "more" },
    subjects: {},
    ratios,
  };
}

describe("The guard", () => {
  it("lets ratios pass that are at least half of those kept.", () => {
    expect(fallenIn([resultWith({ bullmq: 5, limit: 3 })], kept)).toEqual([]);
  });

  it("tells each ratio that is under half.", () => {
    expect(fallenIn([resultWith({ bullmq: 4.99, limit: 0.39 })], kept)).toEqual([
      { case: "drain-1000", measured: "drain-1000 rate", subject: "bullmq", ratio: 4.99, kept: 10 },
      { case: "drain-1000", measured: "drain-1000 rate", subject: "limit", ratio: 0.39, kept: 0.8 },
    ]);
  });

  it("forgives what has fallen once, and not what fell twice in a row.", () => {
    const first = fallenIn([resultWith({ bullmq: 1, limit: 0.8 })], kept);
    const second = fallenIn([resultWith({ bullmq: 1, limit: 0.1 })], kept);
    expect(fallenTwice(first, second).map(({ subject }) => subject)).toEqual(["bullmq"]);
    expect(fallenTwice(first, [])).toEqual([]);
  });

  it("does not take for fast what was not measured, or never kept.", () => {
    expect(() => fallenIn([resultWith({ bullmq: 10 })], kept)).toThrow(
      "There is no ratio of drain-1000 rate to limit to compare with 0.8",
    );
    expect(() => fallenIn([resultWith({ bullmq: 10, limit: 1, other: 1 })], kept)).toThrow(
      "No ratio of drain-1000 rate to other is kept",
    );
  });

  it("keeps what it is to compare with.", () => {
    expect(ratiosOf([resultWith({ bullmq: 10, limit: 0.8 })])).toEqual(kept);
  });

  it("has a ratio kept for each figure of its cases, to each of its subjects.", async () => {
    const others = smokeSubjects.filter((name) => name !== "punctual");
    const wanted = smokeCases.flatMap((name) => caseNamed(name).figures.map((figure) => `${name} ${figure.name}`));
    const all = await keptRatios();
    expect(Object.keys(all)).toEqual(wanted);
    expect(Object.values(all).map((ratios) => Object.keys(ratios))).toEqual(wanted.map(() => others));
  });
});
