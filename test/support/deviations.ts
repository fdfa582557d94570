/** Names several conformance cases that an engine does not pass for one reason: `because("it …", ["case"], ["case", "case"])`. */
export function because(reason: string, ...cases: readonly (readonly string[])[]): Record<string, string> {
  return Object.fromEntries(cases.flat().map((name) => [name, reason]));
}

/** The same for cases that need an operation which the engine refuses with `unsupported`. */
export function cannot(
  operation: string,
  why: string,
  ...cases: readonly (readonly string[])[]
): Record<string, string> {
  return because(`it cannot ${operation}: ${why}`, ...cases);
}

/** All of them; a case that is in several has the reason of the first. */
export function firstOf(...deviations: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  return Object.assign({}, ...deviations.toReversed()) as Record<string, string>;
}
