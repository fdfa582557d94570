import type { NewMessage } from "../engine.js";
import { PunctualError } from "../errors.js";
import { decodeBody, encodeBody } from "../scripting/message-body.js";

/**
 * A message as one value that holds all of it, for schemes that keep no message beside it: deliveries so far (u32), when it
 * was due at first (f64, 0 while that is its due time), length of the id (u16), id, body. Big endian. Two that were scheduled
 * alike are the same bytes, so a set keeps one of them; another id makes another value of the same payload.
 */
export interface Member {
  /** The value as it is stored. */
  readonly bytes: Buffer;
  readonly id: string;
  /** Deliveries that counted. */
  readonly delivered: number;
  readonly payload: Buffer;
  /** The message's own limit of deliveries. */
  readonly attempts: number | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** When it expires, given its due time now; Unix ms. */
  expiresAt(dueAt: number): number | undefined;
}

const head = 4 + 8 + 2;

export function encodeMember(message: NewMessage): Buffer {
  const id = Buffer.from(message.id);
  const fields = Buffer.alloc(head);
  fields.writeUInt16BE(id.length, head - 2);
  return Buffer.concat([fields, id, encodeBody(message)]);
}

export function decodeMember(bytes: Buffer): Member {
  try {
    const end = head + bytes.readUInt16BE(head - 2);
    const firstDue = bytes.readDoubleBE(4);
    const { payload, attempts, headers, expiresAt: expiresIn } = decodeBody(bytes, end);
    return {
      bytes,
      id: bytes.toString("utf8", head, end),
      delivered: bytes.readUInt32BE(0),
      payload,
      attempts,
      headers,
      expiresAt: (dueAt) => (expiresIn === undefined ? undefined : (firstDue || dueAt) + expiresIn),
    };
  } catch (cause) {
    throw new PunctualError("misconfigured", "a stored message is not in the format of this library", { cause });
  }
}

/** The same message, to be put back: `dueAt` is the due time that it was taken with. */
export function redelivered({ bytes }: Member, dueAt: number, delivered: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt32BE(Math.min(delivered, 0xffffffff), 0);
  if (copy.readDoubleBE(4) === 0) copy.writeDoubleBE(dueAt, 4);
  return copy;
}
