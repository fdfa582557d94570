import { invalidValue } from "./invalid-argument.js";

/**
 * A length of time: a number of ms (a fraction is rounded up), or text of a number and a unit, such as `"250ms"`,
 * `"30s"`, `"5m"`, `"1.5h"` or `"7d"`. Not negative, and at most 8.64e15 ms.
 */
export type Duration = number | string;

/** The latest point in time of a `Date`, Unix ms; also the longest duration. */
export const latestTime = 8.64e15;

const unitsInMs: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);

const durationText = /^(\d{1,16}(?:\.\d{1,16})?)(ms|s|m|h|d)$/;

const acceptedText = 'text of a number and a unit, such as "250ms", "30s", "5m", "1.5h" or "7d"';

/**
 * The whole ms of a duration, rounded up.
 *
 * Throws a `PunctualError` `invalid-argument` that names `what`, the value, and what is accepted.
 */
export function parseDuration(value: Duration, what: string): number {
  const ms = wholeMs(value);
  if (ms >= 0) return ms;
  throw invalidValue(what, value, `a number of ms from 0 to 8.64e15, or ${acceptedText}`);
}

/**
 * The same of a delay, where a negative number means now: a program that computes one from a time that has passed need not
 * look which sign it has. There is no bound on how far it has passed.
 */
export function parseDelay(value: Duration, what: string): number {
  if (typeof value === "number" && value < 0 && value !== Number.NEGATIVE_INFINITY) return 0;
  const ms = wholeMs(value);
  if (ms >= 0) return ms;
  throw invalidValue(what, value, `a number of ms up to 8.64e15 (a negative one means now), or ${acceptedText}`);
}

/** `NaN` when it is none from 0 to the longest. */
function wholeMs(value: Duration): number {
  const ms = typeof value === "string" ? textToMs(value) : value;
  if (typeof ms !== "number" || !(ms >= 0 && ms <= latestTime)) return Number.NaN;
  return Math.ceil(ms) + 0; // never -0
}

function textToMs(text: string): number {
  const parts = durationText.exec(text);
  const unit = unitsInMs.get(parts?.[2] ?? "");
  if (unit === undefined) return Number.NaN;
  // 0.07 * 1000 is a hair over 70; without this it would be rounded up to 71.
  return Number((Number(parts?.[1]) * unit).toFixed(6));
}
