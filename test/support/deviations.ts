/** Names several conformance cases that an engine does not pass for one reason: `{ ...because("it …", ["case", "case"]) }`. */
export function because(reason: string, cases: readonly string[]): Record<string, string> {
  return Object.fromEntries(cases.map((name) => [name, reason]));
}

/** The same for cases that need an operation which the engine refuses with `unsupported`. */
export function cannot(operation: string, why: string, cases: readonly string[]): Record<string, string> {
  return because(`it cannot ${operation}: ${why}`, cases);
}
