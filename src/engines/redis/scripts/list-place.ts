import { PunctualError } from "../../../errors.js";
import type { MessageState } from "../../../engine.js";
import { quote } from "../../../quote.js";
import { sequenceLength } from "../message-format.js";

/** A place in the order of a state: behind it the next page begins, whether a message is there or not. */
export interface Place {
  /** Due time or, of dead letters, time of burial. */
  readonly time: number;
  /** What orders equal times: the sequence number or, of dead letters, the id. */
  readonly tail: Buffer;
}

const letters = { scheduled: "s", due: "d", leased: "l", dead: "x" } as const satisfies Record<MessageState, string>;

/** The cursor for a place: the state's letter, the time as f64, the tail; for people it is opaque. */
export function encodePlace(state: MessageState, { time, tail }: Place): string {
  const head = Buffer.alloc(9, letters[state]);
  head.writeDoubleBE(time, 1);
  return Buffer.concat([head, tail]).toString("base64url");
}

/** Reads a cursor. Fails with `invalid-argument` when it is none that a list of this state gave. */
export function decodePlace(state: MessageState, cursor: string): Place {
  const bytes = Buffer.from(cursor, "base64url");
  const tail = bytes.subarray(9);
  if (bytes.toString("base64url") === cursor && bytes.toString("latin1", 0, 1) === letters[state]) {
    const time = bytes.length > 9 ? bytes.readDoubleBE(1) : NaN;
    if (Number.isSafeInteger(time) && (state === "dead" || tail.length === sequenceLength)) return { time, tail };
  }
  throw new PunctualError(
    "invalid-argument",
    `cursor is ${quote(cursor)}; accepted is the cursor of a page of ${state} messages of this engine, unchanged.`,
    { details: { argument: "cursor" } },
  );
}
