import { type Duration, parseDuration } from "../duration.js";
import { checkOptionNames } from "../option-names.js";
import type { Backoff } from "./backoff.js";

export interface ExponentialBackoffOptions {
  /** The bound after the first failure; it doubles with each further one. Default 1 s. */
  first?: Duration | undefined;
  /** The bound never exceeds this. Default 1 h. */
  most?: Duration | undefined;
  /** From 0 up to 1, like Math.random, the default. */
  random?: (() => number) | undefined;
}

const names = new Set(["first", "most", "random"]);

/**
 * Waits that double, with full jitter: any time from 0 to the bound with the same chance. Messages that failed together,
 * because what they need was down, do not come back together; of the usual jitters this one asks the least of what is
 * recovering (Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015).
 */
export function exponentialBackoff(options: ExponentialBackoffOptions = {}): Backoff {
  checkOptionNames(options, names, "options");
  const first = parseDuration(options.first ?? 1_000, "first");
  const most = parseDuration(options.most ?? 3_600_000, "most");
  const random = options.random ?? Math.random;
  return (attempt) => Math.ceil(Math.min(first * 2 ** (attempt - 1), most) * random());
}
