import type { Result } from "./results.js";

/** How many times as good punctual was as others: by what was measured, such as `drain-1000 rate`, then by the subject. */
export type Ratios = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** A ratio that is too low. */
export interface Fallen {
  readonly case: string;
  readonly measured: string;
  readonly subject: string;
  readonly ratio: number;
  readonly kept: number;
}

/** Of what a ratio was, the share under which it counts as fallen. Runs so short scatter, but not by that much. */
const tolerated = 0.5;

/** The ratios of results, as they are kept. */
export function ratiosOf(results: readonly Result[]): Ratios {
  return Object.fromEntries(results.map((result) => [measuredBy(result), result.ratios]));
}

/** The ratios of results that are under half of what was kept. Fails when one is not kept, or what is kept was not measured. */
export function fallenIn(results: readonly Result[], kept: Ratios): Fallen[] {
  return results.flatMap((result) => {
    const measured = measuredBy(result);
    const before = kept[measured] ?? {};
    const names = new Set([...Object.keys(before), ...Object.keys(result.ratios)]);
    return [...names].flatMap((subject) => {
      const [ratio, was] = [result.ratios[subject], before[subject]];
      if (was === undefined) throw new Error(`No ratio of ${measured} to ${subject} is kept; keep one with --keep`);
      if (ratio === undefined) throw new Error(`There is no ratio of ${measured} to ${subject} to compare with ${was}`);
      return ratio < tolerated * was ? [{ case: result.case, measured, subject, ratio, kept: was }] : [];
    });
  });
}

/** Those that had fallen before, too: once may be the machine, twice in a row is not. */
export function fallenTwice(first: readonly Fallen[], second: readonly Fallen[]): Fallen[] {
  return second.filter((one) =>
    first.some(({ measured, subject }) => measured === one.measured && subject === one.subject),
  );
}

function measuredBy({ case: name, figure }: Pick<Result, "case" | "figure">): string {
  return `${name} ${figure.name}`;
}
