import type { Reply } from "../clients/port.js";
import { PunctualError } from "../errors.js";

/**
 * Checked readers of what a script answered. `where` names the script and the part, such as `claim: buried`. A reply of
 * another shape is a fault in this library or in what stands between it and Redis; it is never guessed at: the
 * script has run, so what it did is not known.
 */
export function asArray(reply: Reply | undefined, where: string): Reply[] {
  if (Array.isArray(reply)) return reply;
  throw misshapen("an array", reply, where);
}

/** Bytes, as a view of what the client library gave. */
export function asBytes(reply: Reply | undefined, where: string): Buffer {
  if (Buffer.isBuffer(reply)) return reply;
  throw misshapen("bytes", reply, where);
}

/** Text of UTF-8. */
export function asText(reply: Reply | undefined, where: string): string {
  return asBytes(reply, where).toString("utf8");
}

/** A number, sent as one or as decimal text (Redis cuts off the fraction of numbers, so those with one come as text). */
export function asNumber(reply: Reply | undefined, where: string): number {
  if (typeof reply === "number") return reply;
  if (Buffer.isBuffer(reply) && reply.length > 0) {
    const number = Number(reply.toString("latin1"));
    if (Number.isFinite(number)) return number;
  }
  throw misshapen("a number", reply, where);
}

/** One of a closed set of words. */
export function asWord<Word extends string>(reply: Reply | undefined, words: readonly Word[], where: string): Word {
  const text = asText(reply, where);
  const word = words.find((candidate) => candidate === text);
  if (word === undefined) throw misshapen(`one of ${words.join(", ")}`, reply, where);
  return word;
}

/** A flat reply of rows of `width` elements, as it is. */
export function asFlatRows(reply: Reply | undefined, width: number, where: string): Reply[] {
  const flat = asArray(reply, where);
  if (flat.length % width !== 0) throw misshapen(`a multiple of ${width} elements`, reply, where);
  return flat;
}

/** Splits a flat reply into rows of `width` elements. */
export function asRows(reply: Reply | undefined, width: number, where: string): Reply[][] {
  const flat = asFlatRows(reply, width, where);
  return Array.from({ length: flat.length / width }, (_, row) => flat.slice(row * width, (row + 1) * width));
}

function misshapen(expected: string, reply: Reply | undefined, where: string): PunctualError {
  const got = Array.isArray(reply)
    ? `an array of ${reply.length}`
    : Buffer.isBuffer(reply)
      ? `"${reply.subarray(0, 40).toString("utf8")}"`
      : String(reply);
  return new PunctualError(
    "outcome-unknown",
    `the script answered in a way that this library does not know (${where}): expected ${expected}, got ${got}`,
  );
}
