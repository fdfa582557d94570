import { isDate, isProxy } from "node:util/types";

/** The most characters of a value that an error shows. */
const longest = 80;

/**
 * Shows a value that was refused, as it would be written in a program, cut to a length that fits a log line. It may be
 * anything that a caller without types hands over; what is inside of an object is not shown, it may be secret or endless.
 */
export function quote(value: unknown): string {
  if (typeof value === "string") {
    return value.length > longest
      ? `${JSON.stringify(value.slice(0, longest))}… (${value.length} characters)`
      : JSON.stringify(value);
  }
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return "a function";
  if (typeof value === "symbol") return "a symbol";
  if (isDate(value)) return Number.isNaN(value.getTime()) ? "an invalid Date" : `a Date (${value.toISOString()})`;
  if (isProxy(value)) return "an object";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return Object.is(value, -0) ? "-0" : String(value);
}
