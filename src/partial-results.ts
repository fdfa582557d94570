import { PunctualError } from "./errors.js";

/** Hands on a call for many; when it failed half-way, its `details.results` are turned into those of the public call. */
export async function withResults<Result, Known>(
  call: Promise<Result[]>,
  toKnown: (result: Result | undefined, place: number) => Known | undefined,
): Promise<Result[]> {
  try {
    return await call;
  } catch (error) {
    throw failureWith(error, toKnown);
  }
}

/** What a call for many that failed half-way says of each that is known; nothing of a call that failed as a whole. */
export function resultsOf<Result>(failure: unknown): readonly (Result | undefined)[] {
  const results = failure instanceof PunctualError ? failure.details["results"] : undefined;
  // What the elements are is in the contract of the engine.
  return Array.isArray(results) ? (results as (Result | undefined)[]) : [];
}

/** A failure of the engine with its `details.results` turned into those of the public call. Any other is left as it is. */
export function failureWith<Result, Known>(
  error: unknown,
  toKnown: (result: Result | undefined, place: number) => Known | undefined,
): unknown {
  if (!(error instanceof PunctualError) || !Array.isArray(error.details["results"])) return error;
  // What the elements are is in the contract of the engine.
  const results = error.details["results"] as (Result | undefined)[];
  return sameFailure(error, { ...error.details, results: Array.from(results, toKnown) });
}

/**
 * The same failure once more: with other details, or with the frames of another caller. The one that it is made from says no
 * more, so it does not become its cause.
 */
export function sameFailure(error: PunctualError, details = error.details): PunctualError {
  const { code, message, cause } = error;
  return new PunctualError(code, message, cause === undefined ? { details } : { cause, details });
}

/**
 * A failure of an operation that answers with a number, and did it to so many before: `details.done`. What its last call says of
 * each of its own messages is told by that.
 */
export function failureAfter(error: unknown, done: number): unknown {
  if (!(error instanceof PunctualError)) return error;
  const { results: _, ...details } = error.details;
  return sameFailure(error, { ...details, done });
}

/** The results of a call for many when all are known; else fails with `outcome-unknown` and those that are. */
export function allKnown<Known>(results: (Known | undefined)[], verb: string): Known[] {
  const known = results.filter((result) => result !== undefined);
  if (known.length === results.length) return known;
  const unknown = results.length - known.length;
  throw new PunctualError(
    "outcome-unknown",
    `It is not known what became of ${unknown} of ${results.length} to ${verb}.`,
    {
      details: { results },
    },
  );
}
