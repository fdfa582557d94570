import type { Deviation } from "../../src/testing/conformance/index.js";

/** Cases that an engine does not pass, by name. */
export type Deviations = Readonly<Record<string, Deviation>>;

/** A case, or those of a group. */
type Cases = string | readonly string[];

/**
 * Names conformance cases for which an engine answers otherwise than the contract, for one reason:
 * `because("it …", "case", needing("list"))`.
 */
export function because(reason: string, ...cases: readonly Cases[]): Deviations {
  return each({ kind: "differs", because: reason }, cases);
}

/** The same for cases that need something which the engine refuses with `unsupported`. */
export function refused(reason: string, ...cases: readonly Cases[]): Deviations {
  return each({ kind: "refuses", because: reason }, cases);
}

/** The same, where it is an operation of the contract, with its name in the reason. */
export function cannot(operation: string, why: string, ...cases: readonly Cases[]): Deviations {
  return refused(`it cannot ${operation}: ${why}`, ...cases);
}

/** All of them; a case that is in several has the kind and reason of the first. */
export function firstOf(...deviations: readonly Deviations[]): Deviations {
  return Object.assign({}, ...deviations.toReversed()) as Deviations;
}

function each(deviation: Deviation, cases: readonly Cases[]): Deviations {
  return Object.fromEntries(cases.flat().map((name) => [name, deviation]));
}
