import { inspect } from "node:util";
import { isNativeError } from "node:util/types";
import type { FailureRecord } from "./engine.js";

/** The most bytes of UTF-8 of a record in all: it is kept with the message, and messages are small. */
export const maxFailureBytes = 4_096;

const maxNameBytes = 256;
const maxMessageBytes = 1_536;

/**
 * What a handler threw, as it is kept with the message, cut to 4 KiB. Never throws, whatever was thrown: something that is
 * no Error has the name `NonError` and is shown as it would be logged.
 */
export function failureRecord(thrown: unknown): FailureRecord {
  if (!isError(thrown)) return { name: "NonError", message: cut(show(thrown), maxMessageBytes) };
  const name = cut(text(() => thrown.name) ?? "Error", maxNameBytes);
  const message = cut((text(() => thrown.message) ?? "") + causeOf(thrown), maxMessageBytes);
  const stack = text(() => thrown.stack);
  if (stack === undefined) return { name, message };
  return { name, message, stack: cut(stack, maxFailureBytes - Buffer.byteLength(name) - Buffer.byteLength(message)) };
}

/** What lies under it, one level deep: of "cannot be decoded" the why is the useful half. */
function causeOf(thrown: Error): string {
  const cause = text(() => (isError(thrown.cause) ? `${thrown.cause.name}: ${thrown.cause.message}` : undefined));
  return cause === undefined ? "" : ` (cause: ${cause})`;
}

/** Also of another realm, as under a test runner, where instanceof is false. */
function isError(thrown: unknown): thrown is Error {
  try {
    return isNativeError(thrown) || thrown instanceof Error;
  } catch {
    // A proxy can refuse even that question.
    return false;
  }
}

function text(read: () => unknown): string | undefined {
  try {
    const value = read();
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

function show(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  try {
    return inspect(thrown, {
      depth: 2,
      maxStringLength: maxMessageBytes,
      maxArrayLength: 20,
      breakLength: Number.POSITIVE_INFINITY,
    });
  } catch {
    return `a thrown ${typeof thrown} that cannot be shown`;
  }
}

/** The start of a text, at most so many bytes of UTF-8, ending in … when something is missing, never inside a character. */
function cut(value: string, bytes: number): string {
  // A character is at least one byte: of a text of 100 MB only its start is encoded.
  const encoded = Buffer.from(value.slice(0, bytes + 1));
  if (encoded.length <= bytes) return encoded.toString();
  let end = bytes - Buffer.byteLength("…");
  while (end > 0 && ((encoded[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${encoded.toString("utf8", 0, end)}…`;
}
