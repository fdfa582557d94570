import type { NewMessage } from "../engine.js";
import { PunctualError } from "../errors.js";

/** The part of a stored message that clients write and read, and scripts pass on: docs/reference/redis-keys.md. Big endian. */

/** The sequence number in front of every value of `messages`, and of members of zsets, bytes. */
export const sequenceLength = 7;

const attemptsFlag = 1;
const expiryFlag = 2;
const headersFlag = 4;

/** A message without its id and place. */
export interface MessageBody {
  readonly payload: Buffer;
  /** The message's own limit of deliveries. */
  readonly attempts: number | undefined;
  /** Unix ms; as it was sent, and until a script has added the due time, ms from that. */
  readonly expiresAt: number | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
}

type Content = Pick<NewMessage, "payload" | "attempts" | "expiresIn" | "headers">;

/** The bytes of headers as they are stored; `undefined` where there are none. */
export function encodeHeaders({ headers }: Content): Buffer | undefined {
  return headers === undefined ? undefined : Buffer.from(JSON.stringify(headers));
}

/** How many bytes `writeBody` writes. */
export function bodyLength({ attempts, expiresIn, payload }: Content, headers: Buffer | undefined): number {
  return (
    1 +
    (attempts === undefined ? 0 : 4) +
    (expiresIn === undefined ? 0 : 8) +
    (headers === undefined ? 0 : 4 + headers.length) +
    payload.length
  );
}

/**
 * Writes what a client sends of a message: all that follows the sequence number. In the place of the time of expiry stands the
 * time to it; the script adds the due time. Gives where it ends.
 */
export function writeBody(
  { payload, attempts, expiresIn }: Content,
  headers: Buffer | undefined,
  into: Buffer,
  start: number,
): number {
  let flags = 0;
  let offset = start + 1;
  if (attempts !== undefined) {
    flags |= attemptsFlag;
    // More deliveries than 32 bits count is no limit.
    offset = into.writeUInt32BE(Math.min(attempts, 0xffffffff), offset);
  }
  if (expiresIn !== undefined) {
    flags |= expiryFlag;
    offset = into.writeDoubleBE(Math.ceil(expiresIn), offset);
  }
  if (headers !== undefined) {
    flags |= headersFlag;
    offset = into.writeUInt32BE(headers.length, offset);
    offset += headers.copy(into, offset);
  }
  into[start] = flags;
  into.set(payload, offset);
  return offset + payload.length;
}

/** The same in a buffer of its own. */
export function encodeBody(message: Content): Buffer {
  const headers = encodeHeaders(message);
  const body = Buffer.allocUnsafe(bodyLength(message, headers));
  writeBody(message, headers, body, 0);
  return body;
}

/** Reads a value of `messages`. The payload is a view, not a copy. */
export function decodeMessage(value: Buffer): MessageBody {
  return decodeBody(value, sequenceLength);
}

/** Reads the body that begins at `start`. The payload is a view, not a copy. */
export function decodeBody(value: Buffer, start: number): MessageBody {
  try {
    const flags = value.readUInt8(start);
    let offset = start + 1;
    let attempts: number | undefined;
    let expiresAt: number | undefined;
    let headers: Readonly<Record<string, string>> | undefined;
    if (flags & attemptsFlag) {
      attempts = value.readUInt32BE(offset);
      offset += 4;
    }
    if (flags & expiryFlag) {
      expiresAt = value.readDoubleBE(offset);
      offset += 8;
    }
    if (flags & headersFlag) {
      const end = offset + 4 + value.readUInt32BE(offset);
      headers = readHeaders(value.toString("utf8", offset + 4, end));
      offset = end;
    }
    return {
      payload: value.subarray(offset),
      attempts,
      expiresAt,
      headers,
    };
  } catch (cause) {
    throw new PunctualError("misconfigured", "a stored message is not in the format of this library", { cause });
  }
}

function readHeaders(json: string): Readonly<Record<string, string>> {
  const parsed: unknown = JSON.parse(json);
  if (typeof parsed !== "object" || parsed === null) throw new TypeError("headers are no object");
  const entries = Object.entries(parsed).map(([name, value]): [string, string] => [name, String(value)]);
  // fromEntries defines properties, so a header named __proto__ stays a header.
  return Object.fromEntries(entries);
}
