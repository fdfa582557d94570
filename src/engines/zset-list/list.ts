import type { ListPage, ListQuery, StoredMessage } from "../../engine.js";
import { listMarked } from "../../list-cursor.js";
import { decodePlace, encodePlace, type Place } from "../../scripting/list-place.js";
import type { Evaluator } from "../../scripting/script.js";
import type { ReliableKeys } from "./reliable-keys.js";
import { getSome } from "./scripts/get.js";
import { listLeased } from "./scripts/list-leased.js";
import { listPlaces } from "./scripts/list-places.js";
import { reclaim } from "./scripts/reclaim.js";

/** Messages that are read at once. */
const messagesPerStep = 125;

/** A page ends once it holds this many bytes of payload. */
const bytesPerPage = 1 << 20;

/** The latest time there is. */
const latest = 8.64e15;

/**
 * Reads a page of messages: first their places, then each by its id; what has left its place in between is left out. Leases that
 * have ended are reclaimed before, as a claim does it, so that each message is where its state says.
 */
export function list(evaluator: Evaluator, keys: ReliableKeys, query: ListQuery): Promise<ListPage> {
  return listMarked(keys.schedule, query, (own) => page(evaluator, keys, own));
}

async function page(evaluator: Evaluator, keys: ReliableKeys, query: ListQuery): Promise<ListPage> {
  const { state, limit, cursor } = query;
  let after: Place | undefined = cursor === undefined ? undefined : decodePlace(state, cursor);
  const from = Math.min(Math.max(Math.ceil(query.from ?? 0), 0), latest);
  const to = Math.min(Math.floor(query.to ?? latest), latest);
  const messages: StoredMessage[] = [];
  if (from > to) return { messages, cursor: undefined };
  await reclaim(evaluator, keys);
  for (let bytes = 0, isMore = true; isMore && messages.length < limit && bytes < bytesPerPage;) {
    const wanted = { from, to, limit: Math.min(messagesPerStep, limit - messages.length), after };
    const { places, more } = await (state === "leased"
      ? listLeased(evaluator, keys, wanted)
      : listPlaces(evaluator, keys, state, wanted));
    const ids = places.map(({ id }) => id);
    const read = ids.length > 0 ? await getSome(evaluator, keys, ids) : [];
    for (const [index, message] of read.entries()) {
      const place = places[index];
      if (message === undefined || place === undefined || message.state !== state) continue;
      if ((state === "dead" ? message.buried?.at : message.dueAt) !== place.time) continue;
      messages.push(message);
      bytes += message.payload.length;
    }
    after = places[read.length - 1] ?? after;
    isMore = more || read.length < places.length;
    if (!isMore) after = undefined;
  }
  return { messages, cursor: after && encodePlace(after) };
}
