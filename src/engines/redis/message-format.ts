import type { FailureRecord, NewMessage } from "../../engine.js";
import { PunctualError } from "../../errors.js";

/** What the values in Redis hold, byte by byte: docs/reference/redis-keys.md. Everything is big endian. */

/** The sequence number in front of every member of `schedule` and every value of `messages` and `leased`, bytes. */
export const sequenceLength = 7;

const attemptsFlag = 1;
const expiryFlag = 2;
const headersFlag = 4;

/** A stored message without its id. */
export interface StoredBody {
  readonly payload: Buffer;
  /** The message's own limit of deliveries. */
  readonly attempts: number | undefined;
  /** Unix ms. */
  readonly expiresAt: number | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
}

/**
 * What a client sends of a message: all that follows the sequence number. In the place of the time of expiry stands the time
 * to it; the script adds the due time.
 */
export function encodeBody(message: Pick<NewMessage, "payload" | "attempts" | "expiresIn" | "headers">): Buffer {
  const { payload, attempts, expiresIn, headers } = message;
  const json = headers === undefined ? undefined : Buffer.from(JSON.stringify(headers));
  const length =
    1 +
    (attempts === undefined ? 0 : 4) +
    (expiresIn === undefined ? 0 : 8) +
    (json === undefined ? 0 : 4 + json.length);
  const body = Buffer.allocUnsafe(length + payload.length);
  let flags = 0;
  let offset = 1;
  if (attempts !== undefined) {
    flags |= attemptsFlag;
    // More deliveries than 32 bits count is no limit.
    offset = body.writeUInt32BE(Math.min(attempts, 0xffffffff), offset);
  }
  if (expiresIn !== undefined) {
    flags |= expiryFlag;
    offset = body.writeDoubleBE(Math.ceil(expiresIn), offset);
  }
  if (json !== undefined) {
    flags |= headersFlag;
    offset = body.writeUInt32BE(json.length, offset);
    offset += json.copy(body, offset);
  }
  body[0] = flags;
  body.set(payload, offset);
  return body;
}

/** Reads a value of `messages`. The payload is a view, not a copy. */
export function decodeMessage(value: Buffer): StoredBody {
  try {
    const flags = value.readUInt8(sequenceLength);
    let offset = sequenceLength + 1;
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

/** A value of `failures`: how often a message failed, and of a dead letter why it was buried. */
export interface StoredFailure {
  /** Deliveries that counted. */
  readonly attempts: number;
  /** When the last error came, Unix ms; 0 when there is none. */
  readonly errorAt: number;
  /** Of a dead letter: when it was due last. */
  readonly dueAt: number;
  /** Of a dead letter; else empty. */
  readonly reason: string;
  readonly error: FailureRecord | undefined;
}

export function decodeFailure(value: Buffer): StoredFailure {
  try {
    const end = 22 + value.readUInt16BE(20);
    return {
      attempts: value.readUInt32BE(0),
      errorAt: value.readDoubleBE(4),
      dueAt: value.readDoubleBE(12),
      reason: value.toString("utf8", 22, end),
      error: decodeError(value.subarray(end)),
    };
  } catch (cause) {
    throw new PunctualError("misconfigured", "a stored failure is not in the format of this library", { cause });
  }
}

/** An error as stored; empty when there is none. Lua passes it on as it is. */
export function encodeError(error: FailureRecord | undefined): Buffer {
  if (error === undefined) return Buffer.alloc(0);
  return Buffer.from(JSON.stringify({ name: error.name, message: error.message, stack: error.stack }));
}

function decodeError(bytes: Buffer): FailureRecord | undefined {
  if (bytes.length === 0) return undefined;
  const parsed: unknown = JSON.parse(bytes.toString("utf8"));
  if (typeof parsed !== "object" || parsed === null) throw new TypeError("the error is no object");
  const { name, message, stack } = parsed as Partial<Record<keyof FailureRecord, unknown>>;
  const text = typeof stack === "string" ? { stack } : {};
  return { name: String(name), message: String(message), ...text };
}
