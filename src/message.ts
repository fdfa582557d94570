import type { Codec } from "./codec.js";
import type { MessageState, StoredMessage } from "./engine.js";
import { PunctualError } from "./errors.js";

/** A message as it lies in the queue. */
export interface Message<Payload> {
  readonly id: string;
  readonly state: MessageState;
  /** In a list, `undefined` when it cannot be decoded; see `undecodable`. */
  readonly payload: Payload;
  /** When it is due; of a dead letter, when it was due last. */
  readonly dueAt: Date;
  /** Deliveries so far that counted, the one under way included. */
  readonly attempt: number;
  readonly headers: Record<string, string>;
  /** When the lease ends; only while it is leased. */
  readonly leaseUntil?: Date;
  /** How the last delivery failed, if one did. */
  readonly lastError?: { readonly name: string; readonly message: string; readonly stack?: string; readonly at: Date };
  /** Why and when it was buried; only of a dead letter. */
  readonly buried?: { readonly reason: string; readonly at: Date };
  /** Only in a list: why the payload could not be decoded. A `get` of the message fails with it. */
  readonly undecodable?: PunctualError;
}

/** A message as its reader sees it. Throws `undecodable` when the codec cannot read the payload. */
export function readMessage<Payload>(stored: StoredMessage, codec: Codec<Payload>): Message<Payload> {
  return withPayload(stored, decodePayload(stored.id, stored.payload, codec));
}

/**
 * The same for one of many: a payload that cannot be decoded is left out and the reason given instead, because one bad
 * message must not hide the others of its page, and is often the one that is looked for.
 */
export function readListed<Payload>(stored: StoredMessage, codec: Codec<Payload>): Message<Payload> {
  try {
    return readMessage(stored, codec);
  } catch (error) {
    if (!(error instanceof PunctualError)) throw error;
    // Said in the doc comment of `payload`: whoever lists looks at `undecodable` first.
    return { ...withPayload(stored, undefined as Payload), undecodable: error };
  }
}

function withPayload<Payload>(stored: StoredMessage, payload: Payload): Message<Payload> {
  const { leaseUntil, lastError, buried } = stored;
  return {
    id: stored.id,
    state: stored.state,
    payload,
    dueAt: new Date(stored.dueAt),
    attempt: stored.attempt,
    headers: { ...stored.headers },
    ...(leaseUntil === undefined ? {} : { leaseUntil: new Date(leaseUntil) }),
    ...(lastError === undefined ? {} : { lastError: readError(lastError) }),
    ...(buried === undefined ? {} : { buried: { reason: buried.reason, at: new Date(buried.at) } }),
  };
}

/** The payload of bytes; throws `undecodable` with the codec's error as its cause. */
export function decodePayload<Payload>(id: string, bytes: Uint8Array, codec: Codec<Payload>): Payload {
  try {
    return codec.decode(bytes);
  } catch (cause) {
    throw new PunctualError("undecodable", `The payload of message ${JSON.stringify(id)} cannot be decoded.`, {
      cause,
      details: { id, bytes: bytes.byteLength },
    });
  }
}

function readError(error: NonNullable<StoredMessage["lastError"]>): NonNullable<Message<unknown>["lastError"]> {
  const { name, message, stack, at } = error;
  return { name, message, ...(stack === undefined ? {} : { stack }), at: new Date(at) };
}
