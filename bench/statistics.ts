import type { Figure } from "./scenario.js";

/** What several runs found of one figure. */
export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** Every run, in the order in which they were made. */
  readonly runs: readonly number[];
}

/** Fails when there is no run. */
export function summaryOf(runs: readonly number[]): Summary {
  const sorted = runs.toSorted((one, other) => one - other);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  const [min, max] = [sorted[0], sorted.at(-1)];
  if (low === undefined || high === undefined || min === undefined || max === undefined) {
    throw new RangeError("There is no median of no runs.");
  }
  return { median: (low + high) / 2, min, max, runs };
}

/** How many times as good `ours` is as `theirs`: over 1 is better, whether more or less is. */
export function ratioOf(ours: number, theirs: number, better: Figure["better"]): number {
  return better === "more" ? ours / theirs : theirs / ours;
}

/**
 * The order in which subjects take their turns in a run: each starts one place later than in the run before, so that none is
 * always first. Only when there are as many runs as subjects, or a multiple, is each first equally often.
 */
export function turnsOf<Subject>(subjects: readonly Subject[], run: number): readonly Subject[] {
  const first = subjects.length === 0 ? 0 : run % subjects.length;
  return [...subjects.slice(first), ...subjects.slice(0, first)];
}
