import { isUint8Array } from "node:util/types";
import { PunctualError } from "./errors.js";
import { invalidArgument } from "./invalid-argument.js";
import { quote } from "./quote.js";
import { isWellFormed } from "./well-formed.js";

/**
 * How payloads become bytes and come back. Everybody who uses a queue, producers and consumers, needs the same one; the
 * engine never looks inside the bytes.
 *
 * An `encode` that throws fails the schedule with `invalid-argument` before anything is written. A `decode` that throws
 * makes a delivery be buried with reason `undecodable`, and `get` fail with `undecodable`: this is the place to check that
 * a payload has the shape that the handler expects.
 */
export interface Codec<Payload> {
  /** The bytes of a payload, which nobody may change afterwards. */
  encode(payload: Payload): Uint8Array;
  /** The payload of bytes that `encode` gave, here or in an older version of the program. */
  decode(bytes: Uint8Array): Payload;
}

/** Refuses bytes that are not UTF-8 and keeps a byte order mark: what comes out is what went in. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Payloads as JSON: the default. What JSON cannot say is refused where it can be seen (`undefined`, functions, symbols,
 * `bigint`, cycles) and changed as `JSON.stringify` does elsewhere: a `Date` becomes text, `NaN` becomes `null`.
 */
export function jsonCodec<Payload>(): Codec<Payload> {
  return {
    encode(payload) {
      let text: string | undefined;
      try {
        text = JSON.stringify(payload);
      } catch (cause) {
        const problem = `The payload cannot be written as JSON: ${reasonOf(cause)}. Change it, or give the queue another codec.`;
        throw new PunctualError("invalid-argument", problem, { cause, details: { argument: "payload" } });
      }
      if (text === undefined) {
        throw invalidArgument(
          "payload",
          `The payload is ${quote(payload)}, which JSON cannot say`,
          "any value that JSON.stringify writes",
        );
      }
      return Buffer.from(text, "utf8");
    },
    // What was encoded is taken to have been a Payload; a codec of your own can check it.
    decode: (bytes) => JSON.parse(utf8.decode(bytes)) as Payload,
  };
}

/** Payloads that are text, kept as UTF-8. Text with half of a surrogate pair is refused: it would come back changed. */
export function textCodec(): Codec<string> {
  return {
    encode(payload) {
      if (typeof payload !== "string" || !isWellFormed(payload)) {
        throw new PunctualError(
          "invalid-argument",
          `The payload is ${quote(payload)}; accepted by the text codec is a string without lone surrogates.`,
        );
      }
      return Buffer.from(payload, "utf8");
    },
    decode: (bytes) => utf8.decode(bytes),
  };
}

/** Payloads that are bytes already. They are copied on both ways, so a buffer may be used again at once. */
export function binaryCodec(): Codec<Uint8Array> {
  return {
    encode(payload) {
      if (!isUint8Array(payload)) {
        throw new PunctualError(
          "invalid-argument",
          `The payload is ${quote(payload)}; accepted by the binary codec is a Uint8Array (or Buffer).`,
        );
      }
      return new Uint8Array(payload);
    },
    // A copy: the bytes may be a view of a far larger read buffer, which the handler would keep alive and could see.
    decode: (bytes) => new Uint8Array(bytes),
  };
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? (cause.message.split("\n", 1)[0] ?? "") : quote(cause);
}
