import { onTestFinished } from "vitest";

/** Has something closed when the test ends, however it ends; what came last is closed first. */
export function closedAtEnd<T extends AsyncDisposable>(closable: T): T {
  onTestFinished(async () => closable[Symbol.asyncDispose]());
  return closable;
}
