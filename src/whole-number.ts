import { invalidValue } from "./invalid-argument.js";

/** A whole number in a range, as it was given; else throws `invalid-argument` with the value and the range. */
export function checkWholeNumber(value: unknown, what: string, from: number, to: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= from && value <= to) return value;
  throw invalidValue(what, value, `a whole number from ${from.toLocaleString("en")} to ${to.toLocaleString("en")}`);
}

/** The most deliveries that a message can be given; engines keep the limit in four bytes. */
export const maxAttempts = 4_294_967_295;
