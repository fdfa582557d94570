import { type Duration, parseDuration } from "./duration.js";
import { checkOptionNames } from "./option-names.js";
import { checkWholeNumber } from "./whole-number.js";

/** How many dead letters an engine keeps, and how long. What falls out is deleted, counted and told. */
export interface DeadLetterOptions {
  /** Dead letters at most in one queue; those buried first fall out. A whole number from 1. Default: no limit. */
  readonly max?: number | undefined;
  /** How long a dead letter is kept from its burial on. Default: for ever. */
  readonly maxAge?: Duration | undefined;
}

/** The same, checked. */
export interface DeadLetterBounds {
  readonly max: number | undefined;
  /** ms. */
  readonly maxAge: number | undefined;
}

const names = new Set(["max", "maxAge"]);

/** Fails with `invalid-argument` when a bound is none. */
export function parseDeadLetterBounds(options: DeadLetterOptions = {}): DeadLetterBounds {
  checkOptionNames(options, names, "deadLetters");
  const { max, maxAge } = options;
  return {
    max: max === undefined ? undefined : checkWholeNumber(max, "deadLetters.max", 1, Number.MAX_SAFE_INTEGER),
    maxAge: maxAge === undefined ? undefined : parseDuration(maxAge, "deadLetters.maxAge"),
  };
}
