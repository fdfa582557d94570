import { failureRecord } from "./failure-record.js";

/**
 * Warns the process of what a listener threw, or rejected with, that nobody else can be told of. No call of the user's is to fail
 * for it, and a rejection that nobody handles would end the process.
 */
export function warnOfListener(listener: string, thrown: unknown): void {
  // As text: what was thrown may be anything, and looking at it may throw once more.
  const { name, message, stack } = failureRecord(thrown);
  process.emitWarning(`${listener} failed: ${stack ?? `${name}: ${message}`}`, "PunctualListenerError");
}
