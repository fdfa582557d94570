import type { ListQuery } from "../../engine.js";
import { PunctualError } from "../../errors.js";
import { quote } from "../../quote.js";
import { sequenceLength } from "./formats.js";

/** A place in the order of a state: behind it the next page begins, whether a message is there or not. */
export interface Place {
  /** Due time or, of dead letters, time of burial. */
  readonly time: number;
  /** What orders equal times: the sequence number or, of dead letters, the id. */
  readonly tail: Buffer;
}

/** A message that was found, and its place. */
export interface Found extends Place {
  readonly id: string;
}

/** Which part of the order a call is to find. */
export interface PartQuery {
  /** Times in whole ms, themselves included. */
  readonly from: number;
  readonly to: number;
  /** Messages at most. */
  readonly limit: number;
  /** Behind which place it begins. */
  readonly after: Place | undefined;
}

/** What one call found, in order, and behind which place to go on; `undefined` when there are no more. */
export interface FoundPart {
  readonly found: readonly Found[];
  readonly next: Place | undefined;
}

export function comparePlaces(a: Place, b: Place): number {
  return a.time - b.time || a.tail.compare(b.tail);
}

const letters = { scheduled: "s", due: "d", leased: "l", dead: "x" } as const;

/** The cursor for a place: the state's letter, the time as f64, the tail; for people it is opaque. */
export function encodePlace(state: ListQuery["state"], { time, tail }: Place): string {
  const head = Buffer.alloc(9, letters[state]);
  head.writeDoubleBE(time, 1);
  return Buffer.concat([head, tail]).toString("base64url");
}

/** Reads a cursor. Fails with `invalid-argument` when it is none that a list of this state gave. */
export function decodePlace(state: ListQuery["state"], cursor: string): Place {
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
