import { type Duration, parseDuration } from "../duration.js";
import { invalidArgument, invalidValue } from "../invalid-argument.js";
import { checkOptionNames } from "../option-names.js";
import type { Backoff } from "../retry/backoff.js";
import { exponentialBackoff } from "../retry/exponential.js";
import { checkWholeNumber, maxAttempts } from "../whole-number.js";

/** How a consumer works. */
export interface ConsumeOptions {
  /** Handlers at work at once, 1 to 100,000. Default 10. */
  concurrency?: number | undefined;
  /**
   * How long a message stays with this consumer when its process dies, at least 1 s. Default 30 s. It is extended by itself
   * while the handler runs, however long that is.
   */
  lease?: Duration | undefined;
  /** What happens when a handler throws. */
  retry?: RetryPolicy | undefined;
  /** How long a handler may run; then its signal is aborted and the delivery has failed. At least 1 ms. Default: for ever. */
  timeout?: Duration | undefined;
}

export interface RetryPolicy {
  /** Deliveries at most of a message that has no limit of its own, from 1; after the last it is buried. Default 5. */
  attempts?: number | undefined;
  /** How long to wait before each further delivery. Default: exponential, 1 s doubling to 1 h, full jitter. */
  backoff?: Backoff | undefined;
}

/** The options of a consumer, checked and with their defaults; durations in ms. */
export interface ConsumeSettings {
  readonly concurrency: number;
  readonly lease: number;
  readonly attempts: number;
  readonly backoff: Backoff;
  readonly timeout: number | undefined;
}

/** The shortest lease, ms: below it a slow reply alone would lose one. */
export const shortestLease = 1_000;

const optionNames = new Set(["concurrency", "lease", "retry", "timeout"]);
const retryNames = new Set(["attempts", "backoff"]);

/** Checks options and fills in the defaults. Throws `invalid-argument`. */
export function readConsumeOptions(options: ConsumeOptions): ConsumeSettings {
  checkOptionNames(options, optionNames, "options");
  const { concurrency = 10, lease = "30s", retry = {}, timeout } = options;
  checkOptionNames(retry, retryNames, "retry");
  const { attempts = 5, backoff = exponentialBackoff() } = retry;
  if (typeof backoff !== "function") {
    throw invalidValue("retry.backoff", backoff, "a function");
  }
  return {
    concurrency: checkWholeNumber(concurrency, "concurrency", 1, 100_000),
    lease: parseLease(lease),
    attempts: checkWholeNumber(attempts, "retry.attempts", 1, maxAttempts),
    backoff,
    timeout: timeout === undefined ? undefined : atLeast(1, parseDuration(timeout, "timeout"), "timeout"),
  };
}

/** The ms of a lease. Throws `invalid-argument`. */
export function parseLease(lease: Duration): number {
  return atLeast(shortestLease, parseDuration(lease, "lease"), "lease");
}

function atLeast(least: number, ms: number, what: string): number {
  if (ms >= least) return ms;
  throw invalidArgument(what, `${what} is ${ms} ms`, `${least} ms or longer`);
}
