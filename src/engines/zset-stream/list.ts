import type { ListPage, ListQuery, StoredMessage } from "../../engine.js";
import { listMarked } from "../../list-cursor.js";
import { comparePlaces, decodePlace, encodePlace, type PlaceQuery } from "../../scripting/list-place.js";
import type { Evaluator } from "../../scripting/script.js";
import type { StreamKeys } from "./keys.js";
import type { FoundPart } from "./found-places.js";
import { get } from "./scripts/get.js";
import { listDead } from "./scripts/list-dead.js";
import { listLeased } from "./scripts/list-leased.js";
import { listWaiting } from "./scripts/list-waiting.js";

/** Messages in one call at most. */
const messagesPerCall = 250;

/** A page ends once it holds this many bytes of payload, so that nobody gets a thousand messages of 1 MiB at once. */
const bytesPerPage = 1 << 20;

/** The latest time there is. */
const latest = 8.64e15;

/**
 * Reads a page of messages as a group has them. A script finds which there are, and what they are is read after that; one that
 * has gone to another state in between is left out.
 */
export function list(evaluator: Evaluator, keys: StreamKeys, group: string, query: ListQuery): Promise<ListPage> {
  // Each group has places of its own.
  return listMarked(keys.leases, query, (own) => page(evaluator, keys, group, own));
}

async function page(
  evaluator: Evaluator,
  keys: StreamKeys,
  group: string,
  { state, from = 0, to = latest, limit, cursor }: ListQuery,
): Promise<ListPage> {
  let place = cursor === undefined ? undefined : decodePlace(state, cursor);
  if (from > to || to < 0) return { messages: [], cursor: undefined };
  const range = { from: clamp(Math.ceil(from)), to: clamp(Math.floor(to)) };
  const messages: StoredMessage[] = [];
  let bytes = 0;
  let more = range.from <= range.to;
  while (more && messages.length < limit && bytes < bytesPerPage) {
    const query = { ...range, limit: Math.min(messagesPerCall, limit - messages.length), after: place };
    const { found, next } = await find(evaluator, keys, group, state, query);
    const ids = found.map(({ id }) => id);
    const read = ids.length === 0 ? [] : await get(evaluator, keys, group, ids);
    let last = next;
    for (const [index, message] of read.entries()) {
      if (bytes >= bytesPerPage) {
        last = found[index - 1];
        break;
      }
      if (message?.state !== state) continue;
      messages.push(message);
      bytes += message.payload.length;
    }
    place = last;
    more = last !== undefined;
  }
  return { messages, cursor: more && place !== undefined ? encodePlace(place) : undefined };
}

async function find(
  evaluator: Evaluator,
  keys: StreamKeys,
  group: string,
  state: ListQuery["state"],
  query: PlaceQuery,
): Promise<FoundPart> {
  if (state === "leased") return await listLeased(evaluator, keys, "held", query);
  if (state !== "dead") return await listWaiting(evaluator, keys, group, { ...query, state });
  const buried = await listDead(evaluator, keys, query);
  const ended = await listLeased(evaluator, keys, "ended", query);
  // One may have been buried between the two.
  const all = new Map([...ended.found, ...buried.found].map((one) => [one.id, one]));
  const found = [...all.values()].toSorted(comparePlaces).slice(0, query.limit);
  const more = buried.next !== undefined || ended.next !== undefined || all.size > found.length;
  return { found, next: more ? found.at(-1) : undefined };
}

function clamp(time: number): number {
  return Math.min(Math.max(time, 0), latest);
}
