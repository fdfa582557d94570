import { PunctualError } from "./errors.js";
import { quote } from "./quote.js";

/** An argument that is refused before anything is written: a sentence that says what is wrong, and what is accepted. */
export function invalidArgument(
  argument: string,
  problem: string,
  accepted: string,
  details: Readonly<Record<string, unknown>> = {},
): PunctualError {
  return new PunctualError("invalid-argument", `${problem}; accepted is ${accepted}.`, {
    details: { argument, ...details },
  });
}

/** The same where it is the value that is wrong. */
export function invalidValue(argument: string, value: unknown, accepted: string): PunctualError {
  return invalidArgument(argument, `${argument} is ${quote(value)}`, accepted);
}
