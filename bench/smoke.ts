import { type Fallen, fallenIn, fallenTwice, type Ratios } from "./guard.js";
import type { Result } from "./results.js";
import { amount } from "./table.js";

/** What tells in a minute whether punctual has become slow: the three rates, to the best known peer and to bare Redis. */
export const smokeCases: readonly string[] = ["bulk-schedule", "single-1000", "drain-1000"];
export const smokeSubjects: readonly string[] = ["punctual", "bullmq", "limit"];

/** How much of a full run is done, and how often. */
export const smokeScale = 0.3;
export const smokeRuns = 3;

/** Measures; what has fallen under half of what is kept is measured once more, and given when it did again. */
export async function fallenWhenMeasured(
  measure: (cases: readonly string[]) => Promise<readonly Result[]>,
  kept: Ratios,
  say: (line: string) => void,
): Promise<Fallen[]> {
  const first = fallenIn(await measure(smokeCases), kept);
  if (first.length === 0) return [];
  for (const fallen of first) say(`${sentenceAbout(fallen)} Once more:`);
  const again = smokeCases.filter((name) => first.some((fallen) => fallen.case === name));
  return fallenTwice(first, fallenIn(await measure(again), kept));
}

/** Says what has fallen, for people. */
export function sentenceAbout({ measured, subject, ratio, kept }: Fallen): string {
  return `${measured} is ${amount(ratio)} times that of ${subject}, under half of the ${amount(kept)} that it was.`;
}
