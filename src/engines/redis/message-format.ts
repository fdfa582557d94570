import type { FailureRecord } from "../../engine.js";
import { PunctualError } from "../../errors.js";
import { readFailureText } from "../../scripting/failure-text.js";

/** What the values in Redis hold, byte by byte: docs/reference/redis-keys.md. Everything is big endian. */

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
      error: readFailureText(value.toString("utf8", end)),
    };
  } catch (cause) {
    throw new PunctualError("misconfigured", "a stored failure is not in the format of this library", { cause });
  }
}
