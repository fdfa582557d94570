import type { ListPage, ListQuery, StoredMessage } from "../../engine.js";
import type { Evaluator } from "../../scripting/script.js";
import type { StreamKeys } from "./keys.js";
import { decodePlace, encodePlace, type Found, type PartQuery } from "./list-place.js";
import { get } from "./scripts/get.js";
import { listDead } from "./scripts/list-dead.js";
import { listLeased } from "./scripts/list-leased.js";
import { listWaiting } from "./scripts/list-waiting.js";
import { reclaim } from "./scripts/reclaim.js";

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

function clamp(time: number): number {
  return Math.min(Math.max(time, 0), latest);
}
