import { invalidValue } from "./invalid-argument.js";

/** A signal as it was given, or `undefined`; else throws `invalid-argument`. */
export function checkSignal(signal: unknown, what = "signal"): AbortSignal | undefined {
  if (signal === undefined || isSignal(signal)) return signal;
  throw invalidValue(what, signal, "an AbortSignal");
}

/** Not instanceof: test runners have a realm of their own, with another AbortSignal. */
function isSignal(value: unknown): value is AbortSignal {
  if (typeof value !== "object" || value === null) return false;
  return (
    typeof Reflect.get(value, "addEventListener") === "function" && typeof Reflect.get(value, "aborted") === "boolean"
  );
}
