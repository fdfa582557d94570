import { checkSignal } from "../abort-signal.js";
import { parseLease } from "../consumer/consume-options.js";
import { type Duration, parseDuration } from "../duration.js";
import { checkOptionNames } from "../option-names.js";
import { checkWholeNumber, maxAttempts } from "../whole-number.js";

/** How messages are received. */
export interface ReceiveOptions {
  /** Messages at most, 1 to 1,000. Default 1. There may be fewer, also when more are due. */
  max?: number | undefined;
  /** How long to wait for a message when none is due. Default: not at all. */
  wait?: Duration | undefined;
  /** How long you have for each message, at least 1 s; `extend` gives it more. Default 30 s. */
  lease?: Duration | undefined;
  /** Deliveries at most of a message that has no limit of its own, from 1. Default 5. */
  attempts?: number | undefined;
  /** Ends the wait: what came too late is handed back, and the call rejects with the reason of the signal. Default: none. */
  signal?: AbortSignal | undefined;
}

/** The options of a call, checked and with their defaults; durations in ms. */
export interface ReceiveSettings {
  readonly max: number;
  readonly wait: number;
  readonly lease: number;
  readonly attempts: number;
  readonly signal: AbortSignal | undefined;
}

const optionNames = new Set(["max", "wait", "lease", "attempts", "signal"]);

/** Checks options and fills in the defaults. Throws `invalid-argument`. */
export function readReceiveOptions(options: ReceiveOptions): ReceiveSettings {
  checkOptionNames(options, optionNames, "options");
  const { max = 1, wait = 0, lease = "30s", attempts = 5, signal } = options;
  return {
    max: checkWholeNumber(max, "max", 1, 1_000),
    wait: parseDuration(wait, "wait"),
    lease: parseLease(lease),
    attempts: checkWholeNumber(attempts, "attempts", 1, maxAttempts),
    signal: checkSignal(signal),
  };
}
