import assert from "node:assert/strict";
import { PunctualError } from "../../errors.js";

/** Why an engine does not pass a case, and how that shows. */
export interface Deviation {
  /**
   * How the case has to fail. `refuses`: the engine refuses what the case needs with a `PunctualError` of code
   * `unsupported`. `differs`: the engine answers otherwise than the contract, so that an assertion of the case fails.
   */
  readonly kind: "refuses" | "differs";
  /** The reason, as a sentence goes on after "because"; it stands in the name of the test. */
  readonly because: string;
}

/** That a case was not done in its time: whatever hung, it shows neither a refusal nor an answer. */
export class CaseTimeout extends Error {
  constructor(limit: number) {
    super(`not done after ${limit} ms`);
  }
}

/** Holds the failure of a case to what its deviation says; any other failure, and none at all, is an error. */
export function expectDeviation(
  deviation: Deviation,
  failure: { readonly error: unknown } | undefined,
  { engine, name }: { readonly engine: string; readonly name: string },
): void {
  assert.ok(failure !== undefined, `"${name}" passes: take it off the deviations of ${engine}`);
  const seen = kindOf(failure.error);
  if (seen === deviation.kind) return;
  const what = seen === undefined ? "shows neither a refusal nor a wrong answer" : `is one of kind "${seen}"`;
  throw new Error(
    `"${name}" is a deviation of ${engine} of kind "${deviation.kind}", but its failure ${what}: ${String(failure.error)}`,
    { cause: failure.error },
  );
}

function kindOf(error: unknown): Deviation["kind"] | undefined {
  // An assertion about how a call fails holds the refusal that it was not made for.
  if (holdsRefusal(error)) return "refuses";
  return error instanceof assert.AssertionError ? "differs" : undefined;
}

/** Whether an error is a refusal or came of one. */
function holdsRefusal(error: unknown, seen = new Set<unknown>()): boolean {
  // A cause may lead back to its error.
  if (!(error instanceof Error) || seen.has(error)) return false;
  seen.add(error);
  if (error instanceof PunctualError && error.code === "unsupported") return true;
  const behind: unknown[] = [error.cause];
  if (error instanceof AggregateError) behind.push(...(error.errors as unknown[]));
  if (error instanceof assert.AssertionError) behind.push(error.actual);
  return behind.some((one) => holdsRefusal(one, seen));
}
