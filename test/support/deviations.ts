/** Names several conformance cases that an engine does not pass for one reason: `{ ...because("it …", ["case", "case"]) }`. */
export function because(reason: string, cases: readonly string[]): Record<string, string> {
  return Object.fromEntries(cases.map((name) => [name, reason]));
}
