import { randomBytes } from "node:crypto";
import { invalidValue } from "./invalid-argument.js";
import { isWellFormed } from "./well-formed.js";

/** The longest id in bytes of UTF-8. */
export const maxIdBytes = 256;

/** An id as it was given, when it is one: 1 to 256 bytes of UTF-8, any characters. Else throws `invalid-argument`. */
export function checkId(id: unknown, what = "id"): string {
  // A UTF-16 unit is at most three bytes of UTF-8, so most ids need not be measured.
  if (typeof id === "string" && id !== "" && isWellFormed(id)) {
    if (id.length * 3 <= maxIdBytes || Buffer.byteLength(id) <= maxIdBytes) return id;
  }
  throw invalidValue(what, id, `a string of 1 to ${maxIdBytes} bytes of UTF-8 without lone surrogates`);
}

/** Every id of a list, checked before any is used. A single string is refused: it is a list of its characters. */
export function checkIds(ids: Iterable<string>, what = "ids"): string[] {
  if (typeof ids !== "object" || ids === null || typeof ids[Symbol.iterator] !== "function") {
    throw invalidValue(what, ids, "an iterable of ids, such as an array");
  }
  const checked: string[] = [];
  for (const id of ids) checked.push(checkId(id, `${what}[${checked.length}]`));
  return checked;
}

/**
 * Makes ids for messages that were given none: 96 random bits drawn once, then a counter. That is as unique as a UUID for
 * half of the memory and a tenth of the time; it is no secret, like any id.
 */
export function idGenerator(random: (bytes: number) => Buffer = randomBytes): () => string {
  let start: string | undefined;
  let made = 0;
  return () => {
    start ??= random(12).toString("base64url");
    made += 1;
    return `${start}${made.toString(36)}`;
  };
}
