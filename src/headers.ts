import { invalidArgument } from "./invalid-argument.js";
import { quote } from "./quote.js";
import { isWellFormed } from "./well-formed.js";

/** The most bytes of UTF-8 that the names and values of one message's headers have together. */
export const maxHeaderBytes = 8_192;

const accepted = `a plain object of strings, ${maxHeaderBytes.toLocaleString("en")} bytes of UTF-8 in all, without lone surrogates`;

const invalid = (problem: string) => invalidArgument("headers", problem, accepted);

/** A copy of the headers of a message, checked; `undefined` when there are none, so that they cost nothing. */
export function checkHeaders(headers: unknown): Record<string, string> | undefined {
  if (headers === undefined) return undefined;
  if (!isPlain(headers)) throw invalid(`headers is ${quote(headers)}`);
  const copy: Record<string, string> = {};
  let bytes = 0;
  let some = false;
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    if (typeof value !== "string") throw invalid(`headers[${quote(name)}] is ${quote(value)}`);
    // Assigning to this name would set the prototype, here or in a program that copies the headers.
    if (name === "__proto__") throw invalid('headers has the name "__proto__"');
    if (!isWellFormed(name) || !isWellFormed(value)) throw invalid(`headers[${quote(name)}] is ${quote(value)}`);
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
    copy[name] = value;
    some = true;
  }
  if (bytes > maxHeaderBytes) throw invalid(`headers has ${bytes.toLocaleString("en")} bytes`);
  return some ? copy : undefined;
}

/** An object literal, of this or another realm, and not a Map or Headers, which would look empty. */
function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
