import type { FailureRecord } from "../../engine.js";
import { PunctualError } from "../../errors.js";
import { readFailureText } from "../../scripting/failure-text.js";

/** What the values in Redis hold, byte by byte; scripts/snippets/copies.lua has the same. Everything is big endian. */

/** A value of `failures`. */
export interface StoredFailure {
  /** When the last error came, Unix ms; 0 when there is none. */
  readonly errorAt: number;
  /** Why it was buried; of a dead letter, else empty. */
  readonly reason: string;
  readonly error: FailureRecord | undefined;
}

export function decodeFailure(value: Buffer): StoredFailure {
  try {
    const end = 10 + value.readUInt16BE(8);
    return {
      errorAt: value.readDoubleBE(0),
      reason: value.toString("utf8", 10, end),
      error: readFailureText(value.toString("utf8", end)),
    };
  } catch (cause) {
    throw new PunctualError("misconfigured", "a stored failure is not in the format of this library", { cause });
  }
}
