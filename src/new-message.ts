import { isUint8Array } from "node:util/types";
import { checkSignal } from "./abort-signal.js";
import type { Codec } from "./codec.js";
import { type When, dueTime } from "./due.js";
import { type Duration, parseDuration } from "./duration.js";
import type { CallOptions, NewMessage } from "./engine.js";
import { PunctualError } from "./errors.js";
import { checkHeaders } from "./headers.js";
import { invalidValue } from "./invalid-argument.js";
import { checkId } from "./message-id.js";
import { checkOptionNames } from "./option-names.js";
import { checkWholeNumber, maxAttempts } from "./whole-number.js";

/** How a message is handed over. */
export interface ScheduleOptions {
  /** Names the message: 1 to 256 bytes of UTF-8, any characters. Made by the queue when left out. */
  id?: string | undefined;
  /**
   * What happens when a message with this id is there that nobody works on. `"keep"`, the default, leaves it as it is;
   * `"replace"` gives it this payload, these options and this due time.
   */
  onDuplicate?: "keep" | "replace" | undefined;
  /** Deliveries at most, from 1. Default: the limit of the consumer that takes it. */
  attempts?: number | undefined;
  /**
   * How long after the due time given here it may still be delivered; then it is buried with reason `expired` instead.
   * Default: for ever.
   */
  expiresIn?: Duration | undefined;
  /** Text that travels with the payload, such as a `traceparent`; at most 8,192 bytes in all. Default: none. */
  headers?: Record<string, string> | undefined;
  /** Gives up when it aborts: `not-sent` when nothing was sent yet, else `outcome-unknown`. Default: none. */
  signal?: AbortSignal | undefined;
  /** How long to wait for the store before the call fails. Default 10 s. */
  timeout?: Duration | undefined;
}

/** A message to schedule, as `scheduleMany` takes them. */
export type MessageToSchedule<Payload> = { payload: Payload } & When & ScheduleOptions;

const scheduleNames = new Set([
  "delay",
  "at",
  "id",
  "onDuplicate",
  "attempts",
  "expiresIn",
  "headers",
  "signal",
  "timeout",
]);
const messageNames = new Set(["payload", ...scheduleNames]);

/** Turns what callers hand over into messages for the engine, or refuses it before anything is written. */
export class MessageWriter<Payload> {
  readonly #codec: Codec<Payload>;
  readonly #maxPayloadBytes: number;
  readonly #newId: () => string;

  constructor(codec: Codec<Payload>, maxPayloadBytes: number, newId: () => string) {
    this.#codec = codec;
    this.#maxPayloadBytes = maxPayloadBytes;
    this.#newId = newId;
  }

  /** The message of one schedule call. Throws `invalid-argument` or `payload-too-large`. */
  message(payload: Payload, options: When & ScheduleOptions): NewMessage {
    checkOptionNames(options, scheduleNames, "options");
    return this.#build(payload, options);
  }

  /** The messages of one call for many; the error for a bad one says which in `details.index`. */
  messages(messages: Iterable<MessageToSchedule<Payload>>): { messages: NewMessage[]; callOptions: CallOptions } {
    if (typeof messages !== "object" || messages === null || typeof messages[Symbol.iterator] !== "function") {
      throw invalidValue("messages", messages, "an iterable of messages, such as an array");
    }
    const built: NewMessage[] = [];
    const signals = new Set<AbortSignal>();
    let timeout: number | undefined;
    for (const message of messages) {
      try {
        checkOptionNames(message, messageNames, "message");
        built.push(this.#build(message.payload, message));
        const own = callOptions(message);
        if (own?.signal !== undefined) signals.add(own.signal);
        if (own?.timeout !== undefined) timeout = Math.min(own.timeout, timeout ?? own.timeout);
      } catch (error) {
        throw placed(error, built.length);
      }
    }
    return {
      messages: built,
      callOptions: { signal: signals.size > 0 ? AbortSignal.any([...signals]) : undefined, timeout },
    };
  }

  #build(payload: Payload, options: When & ScheduleOptions): NewMessage {
    const { id, onDuplicate, attempts, expiresIn, headers } = options;
    if (onDuplicate !== undefined && onDuplicate !== "keep" && onDuplicate !== "replace") {
      throw invalidValue("onDuplicate", onDuplicate, '"keep" or "replace"');
    }
    return {
      id: id === undefined ? this.#newId() : checkId(id),
      due: dueTime(options),
      onDuplicate: onDuplicate ?? "keep",
      attempts: attempts === undefined ? undefined : checkWholeNumber(attempts, "attempts", 1, maxAttempts),
      expiresIn: expiresIn === undefined ? undefined : parseDuration(expiresIn, "expiresIn"),
      headers: checkHeaders(headers),
      payload: this.#encode(payload),
    };
  }

  #encode(payload: Payload): Uint8Array {
    const bytes = encoded(this.#codec, payload);
    if (!isUint8Array(bytes)) throw invalidValue("The result of the codec's encode", bytes, "a Uint8Array");
    if (bytes.byteLength > this.#maxPayloadBytes) {
      throw new PunctualError(
        "payload-too-large",
        `The payload has ${bytes.byteLength} bytes; this queue accepts ${this.#maxPayloadBytes} (maxPayloadBytes).`,
        { details: { bytes: bytes.byteLength, maxPayloadBytes: this.#maxPayloadBytes } },
      );
    }
    return bytes;
  }
}

/** How long this call may take, when its caller said so; such a call shares none with others. */
export function callOptions(options: ScheduleOptions): CallOptions | undefined {
  const { signal, timeout } = options;
  if (signal === undefined && timeout === undefined) return undefined;
  return {
    signal: checkSignal(signal),
    timeout: timeout === undefined ? undefined : parseDuration(timeout, "timeout"),
  };
}

function encoded<Payload>(codec: Codec<Payload>, payload: Payload): Uint8Array {
  try {
    return codec.encode(payload);
  } catch (cause) {
    if (cause instanceof PunctualError) throw cause;
    throw new PunctualError("invalid-argument", "The payload was refused by the codec; cause says why.", { cause });
  }
}

function placed(error: unknown, index: number): unknown {
  if (!(error instanceof PunctualError)) return error;
  return new PunctualError(error.code, `messages[${index}]: ${error.message}`, {
    cause: error.cause,
    details: { ...error.details, index },
  });
}
