import type { MessageState } from "../../engine.js";
import { PunctualError } from "../../errors.js";
import { quote } from "../../quote.js";
import { sequenceLength } from "./reliable-keys.js";

/** A place in the order of a state: behind it the next page begins, whether a message is there or not. */
export interface Place {
  /** Due time or, of dead letters, time of burial. */
  readonly time: number;
  /** What orders equal times: the sequence number or, of dead letters, the id. */
  readonly tail: Buffer;
}

/** The place of a message. */
export interface ListPlace extends Place {
  readonly id: string;
}

/** Which places are wanted. */
export interface PlaceQuery {
  /** Times in whole ms, themselves included. */
  readonly from: number;
  readonly to: number;
  /** Places at most. */
  readonly limit: number;
  readonly after: Place | undefined;
}

export interface PlacePage {
  readonly places: readonly ListPlace[];
  /** Whether there are places behind these. */
  readonly more: boolean;
}

const letters = { scheduled: "s", due: "d", leased: "l", dead: "x" } as const satisfies Record<MessageState, string>;

/** The cursor for a place: the state's letter, the time as f64, the tail. */
export function encodeCursor(state: MessageState, { time, tail }: Place): string {
  const head = Buffer.alloc(9, letters[state]);
  head.writeDoubleBE(time, 1);
  return Buffer.concat([head, tail]).toString("base64url");
}

/** Reads a cursor. Fails with `invalid-argument` when it is none that a list of this state gave. */
export function decodeCursor(state: MessageState, cursor: string): Place {
  const bytes = Buffer.from(cursor, "base64url");
  const tail = bytes.subarray(9);
  if (bytes.toString("base64url") === cursor && bytes.toString("latin1", 0, 1) === letters[state] && tail.length > 0) {
    const time = bytes.readDoubleBE(1);
    if (Number.isSafeInteger(time) && (state === "dead" || tail.length === sequenceLength)) return { time, tail };
  }
  throw new PunctualError(
    "invalid-argument",
    `cursor is ${quote(cursor)}; accepted is the cursor of a page of ${state} messages of this engine, unchanged.`,
    { details: { argument: "cursor" } },
  );
}
