import type { CommandArgument } from "../clients/port.js";
import type { MessageState } from "../engine.js";
import { refusedCursor } from "../list-cursor.js";
import { sequenceLength } from "./message-body.js";

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

/** Which part of an order a call is to find. */
export interface PlaceQuery {
  /** Times in whole ms, themselves included. */
  readonly from: number;
  readonly to: number;
  /** Places at most. */
  readonly limit: number;
  /** Behind which place it begins. */
  readonly after: Place | undefined;
}

/** As scripts take it: from to limit time tail, of which the last two are empty at the beginning. */
export function placeArgs({ from, to, limit, after }: PlaceQuery): CommandArgument[] {
  return [String(from), String(to), String(limit), after === undefined ? "" : String(after.time), after?.tail ?? ""];
}

export function comparePlaces(a: Place, b: Place): number {
  return a.time - b.time || a.tail.compare(b.tail);
}

const timeLength = 8;

/** The cursor for a place: the time as f64, the tail; for people it is opaque. */
export function encodePlace({ time, tail }: Place): string {
  const head = Buffer.alloc(timeLength);
  head.writeDoubleBE(time);
  return Buffer.concat([head, tail]).toString("base64url");
}

/** Reads a cursor. Fails with `invalid-argument` when it is none that a list of this state gave. */
export function decodePlace(state: MessageState, cursor: string): Place {
  const bytes = Buffer.from(cursor, "base64url");
  if (bytes.toString("base64url") === cursor && bytes.length > timeLength) {
    const [time, tail] = [bytes.readDoubleBE(), bytes.subarray(timeLength)];
    if (Number.isSafeInteger(time) && (state === "dead" || tail.length === sequenceLength)) return { time, tail };
  }
  throw refusedCursor(cursor, state);
}
