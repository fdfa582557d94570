import type { ListPage, ListQuery, MessageState } from "../../engine.js";
import { refusedCursor } from "../../list-cursor.js";
import { compareIds, leaseEnd, type MessageIndexes } from "./message-indexes.js";
import { isLeaseOver, type MessageRecord, stateOf, storedMessageOf } from "./message-record.js";

/**
 * The place of a message among those of its state: by due time and then by sequence, of dead letters by the time of burial
 * and then by id. It stays the same as long as the message keeps its state and that time; so it can be a cursor.
 */
interface Position {
  readonly at: number;
  readonly tie: number | string;
}

/** One page of the messages of one state. */
export function listMessages(indexes: MessageIndexes, query: ListQuery, now: number): ListPage {
  const { state, from = -Infinity, to = Infinity, limit } = query;
  const after = query.cursor === undefined ? undefined : readCursor(query.cursor, state);
  const reached = (record: MessageRecord) => {
    const position = positionOf(record, state);
    return position.at >= from && (after === undefined || compare(position, after) > 0);
  };
  const page: MessageRecord[] = [];
  for (const record of recordsFrom(indexes, state, now, reached)) {
    if (positionOf(record, state).at > to) break;
    const last = page.at(-1);
    if (page.length === limit && last) return { messages: seen(page, now), cursor: cursorOf(last, state) };
    page.push(record);
  }
  return { messages: seen(page, now), cursor: undefined };
}

/** All messages that are in a state now, in their order. Nothing may change meanwhile. */
export function recordsIn(indexes: MessageIndexes, state: MessageState, now: number): Iterable<MessageRecord> {
  return recordsFrom(indexes, state, now, () => true);
}

/**
 * The messages of a state from the first that `reached` holds for. Those whose lease has ended without being reclaimed are
 * in no index by the place that they will have; they are few, because claims reclaim them, and sorted for each page.
 */
function recordsFrom(
  indexes: MessageIndexes,
  state: MessageState,
  now: number,
  reached: (record: MessageRecord) => boolean,
): Iterable<MessageRecord> {
  switch (state) {
    case "scheduled":
      return indexes.waiting.from((record) => record.dueAt > now && reached(record));
    case "leased":
      return held(indexes.leased.from(reached), now);
    case "due":
      return merged(due(indexes.waiting.from(reached), now), endedAs(indexes, state, now, reached), state);
    case "dead":
      return merged(indexes.dead.from(reached), endedAs(indexes, state, now, reached), state);
  }
}

function* held(records: Iterable<MessageRecord>, now: number): Generator<MessageRecord> {
  for (const record of records) if (!isLeaseOver(record, now)) yield record;
}

function* due(records: Iterable<MessageRecord>, now: number): Generator<MessageRecord> {
  for (const record of records) {
    if (record.dueAt > now) return;
    yield record;
  }
}

/** Those whose lease has ended and that count as due, or as dead, since then. */
function endedAs(
  indexes: MessageIndexes,
  state: MessageState,
  now: number,
  reached: (record: MessageRecord) => boolean,
): MessageRecord[] {
  const ended = [...indexes.ended(now)].filter((record) => stateOf(record, now) === state && reached(record));
  return ended.sort((a, b) => compare(positionOf(a, state), positionOf(b, state)));
}

function* merged(
  records: Iterable<MessageRecord>,
  others: readonly MessageRecord[],
  state: MessageState,
): Generator<MessageRecord> {
  let next = 0;
  for (const record of records) {
    for (let other = others[next]; other; other = others[++next]) {
      if (compare(positionOf(other, state), positionOf(record, state)) > 0) break;
      yield other;
    }
    yield record;
  }
  yield* others.slice(next);
}

function positionOf(record: MessageRecord, state: MessageState): Position {
  if (state === "dead") return { at: record.buried?.at ?? leaseEnd(record), tie: record.id };
  return { at: state === "due" && record.lease ? leaseEnd(record) : record.dueAt, tie: record.sequence };
}

function compare(a: Position, b: Position): number {
  if (a.at !== b.at) return a.at - b.at;
  if (typeof a.tie === "number" && typeof b.tie === "number") return a.tie - b.tie;
  return compareIds(String(a.tie), String(b.tie));
}

function seen(records: readonly MessageRecord[], now: number): ListPage["messages"] {
  return records.map((record) => storedMessageOf(record, now));
}

function cursorOf(record: MessageRecord, state: MessageState): string {
  return encode(positionOf(record, state), state);
}

function encode({ at, tie }: Position, state: MessageState): string {
  return Buffer.from(JSON.stringify([state, at, tie])).toString("base64url");
}

function readCursor(cursor: string, state: MessageState): Position {
  try {
    const [ofState, at, tie] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as readonly unknown[];
    const tied = typeof tie === (state === "dead" ? "string" : "number");
    const position = { at, tie } as Position;
    // Decoding passes over what is no base64url, so text with more in it reads the same.
    if (ofState === state && typeof at === "number" && tied && encode(position, state) === cursor) return position;
  } catch {
    // No JSON, or no array: refused below with all others.
  }
  throw refusedCursor(cursor, state);
}
