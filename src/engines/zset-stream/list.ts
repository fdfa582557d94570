import type { ListPage, ListQuery, StoredMessage } from "../../engine.js";
import { PunctualError } from "../../errors.js";
import { quote } from "../../quote.js";
import type { Evaluator } from "../../scripting/script.js";
import { sequenceLength } from "./formats.js";
import type { StreamKeys } from "./keys.js";
import { get } from "./scripts/get.js";
import { listDead } from "./scripts/list-dead.js";
import { listLeased } from "./scripts/list-leased.js";
import { listWaiting } from "./scripts/list-waiting.js";
import { reclaim } from "./scripts/reclaim.js";

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

/** Messages in one call at most. */
const messagesPerCall = 250;

/** A page ends once it holds this many bytes of payload, so that nobody gets a thousand messages of 1 MiB at once. */
const bytesPerPage = 1 << 20;

/** The latest time there is. */
const latest = 8.64e15;

export function comparePlaces(a: Place, b: Place): number {
  return a.time - b.time || a.tail.compare(b.tail);
}

/**
 * Reads a page of messages as a group has them. A script finds which there are, and what they are is read after that; one that
 * has gone to another state in between is left out.
 */
export async function list(
  evaluator: Evaluator,
  keys: StreamKeys,
  group: string,
  { state, from = 0, to = latest, limit, cursor }: ListQuery,
): Promise<ListPage> {
  let place = cursor === undefined ? undefined : decodePlace(state, cursor);
  if (from > to || to < 0) return { messages: [], cursor: undefined };
  const { now } = await reclaim(evaluator, keys, group);
  const range = {
    from: Math.max(clamp(Math.ceil(from)), state === "scheduled" ? now + 1 : 0),
    to: Math.min(clamp(Math.floor(to)), state === "due" ? now : latest),
  };
  const messages: StoredMessage[] = [];
  let bytes = 0;
  let more = range.from <= range.to;
  while (more && messages.length < limit && bytes < bytesPerPage) {
    const query = { ...range, limit: Math.min(messagesPerCall, limit - messages.length), after: place };
    const part = await find(evaluator, keys, group, state, query);
    const ids = part.found.map(({ id }) => id);
    const read = ids.length === 0 ? [] : await get(evaluator, keys, group, ids);
    more = part.more;
    for (const [index, message] of read.entries()) {
      const found = part.found[index];
      if (found === undefined) break;
      if (bytes >= bytesPerPage) {
        more = true;
        break;
      }
      place = { time: found.time, tail: found.tail };
      if (message?.state !== state) continue;
      messages.push(message);
      bytes += message.payload.length;
    }
    if (part.found.length === 0) break;
  }
  return { messages, cursor: more && place !== undefined ? encodePlace(state, place) : undefined };
}

async function find(
  evaluator: Evaluator,
  keys: StreamKeys,
  group: string,
  state: ListQuery["state"],
  query: PartQuery,
): Promise<{ found: Found[]; more: boolean }> {
  if (state === "leased") return await listLeased(evaluator, keys, query);
  if (state === "dead") return await listDead(evaluator, keys, query);
  return await listWaiting(evaluator, keys, group, query);
}

const letters = { scheduled: "s", due: "d", leased: "l", dead: "x" } as const;

/** The cursor for a place: the state's letter, the time as f64, the tail; for people it is opaque. */
function encodePlace(state: ListQuery["state"], { time, tail }: Place): string {
  const head = Buffer.alloc(9, letters[state]);
  head.writeDoubleBE(time, 1);
  return Buffer.concat([head, tail]).toString("base64url");
}

/** Reads a cursor. Fails with `invalid-argument` when it is none that a list of this state gave. */
function decodePlace(state: ListQuery["state"], cursor: string): Place {
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

function clamp(time: number): number {
  return Math.min(Math.max(time, 0), latest);
}
