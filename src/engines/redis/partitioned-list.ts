import type { EngineQueue, ListPage, ListQuery, StoredMessage } from "../../engine.js";
import { refusedCursor } from "../../list-cursor.js";

/** Where a list of all partitions goes on: the cursor of each; `null` before its first page, `false` when it has no more. */
type Places = readonly (string | null | false)[];

/** How many more than its part each partition is asked for, since ids never spread quite evenly. */
const spare = 5;

/**
 * A page of the messages of all partitions, merged by time. Each partition is read twice where its page was not used up: the
 * second time for as many as were, which gives the place after them.
 */
export async function listPartitions(partitions: readonly EngineQueue[], query: ListQuery): Promise<ListPage> {
  const places = placesFrom(query, partitions.length);
  const read = async (place: number, limit: number): Promise<ListPage> => {
    const cursor = places[place];
    const queue = partitions[place];
    if (cursor === false || queue === undefined) return { messages: [], cursor: undefined };
    return await queue.list({ ...query, limit, cursor: cursor ?? undefined });
  };
  // A page has fewer than asked for where one partition has most of what comes next; more would be read for nothing.
  const share = Math.min(query.limit, Math.ceil(query.limit / partitions.length) + spare);
  const pages = await Promise.all(places.map((_, place) => read(place, share)));
  const taken = takenOf(pages, query.limit);
  const used = await Promise.all(
    pages.map(async (page, place) => {
      const count = taken[place] ?? 0;
      if (count === page.messages.length) return page;
      return count === 0 ? undefined : await read(place, count);
    }),
  );
  const next = used.map((page, place) => (page === undefined ? (places[place] ?? null) : (page.cursor ?? false)));
  const messages = used.flatMap((page) => page?.messages ?? []);
  return {
    messages: messages.toSorted(precedes),
    cursor: next.every((place) => place === false) ? undefined : JSON.stringify(next),
  };
}

/**
 * How many messages of each page come into the merged one. What lies behind the end of a page that has a successor is not
 * known, so nothing later than that may be taken from others.
 */
function takenOf(pages: readonly ListPage[], limit: number): number[] {
  const taken = pages.map(() => 0);
  for (let count = 0; count < limit; count++) {
    let first = -1;
    let earliest: StoredMessage | undefined;
    for (const [place, page] of pages.entries()) {
      const message = page.messages[taken[place] ?? 0];
      if (message === undefined) {
        if (page.cursor === undefined) continue;
        return taken;
      }
      if (earliest === undefined || precedes(message, earliest) < 0) [first, earliest] = [place, message];
    }
    if (first < 0) return taken;
    taken[first] = (taken[first] ?? 0) + 1;
  }
  return taken;
}

/** By due time; dead letters by the time of burial and then by the bytes of their ids. */
function precedes(one: StoredMessage, other: StoredMessage): number {
  if (one.buried === undefined || other.buried === undefined) return one.dueAt - other.dueAt;
  return one.buried.at - other.buried.at || Buffer.compare(Buffer.from(one.id), Buffer.from(other.id));
}

function placesFrom({ cursor, state }: ListQuery, count: number): Places {
  if (cursor === undefined) return Array.from({ length: count }, () => null);
  try {
    const places: unknown = JSON.parse(cursor);
    if (isPlaces(places, count) && JSON.stringify(places) === cursor) return places;
  } catch {
    // Told below, like any other text.
  }
  throw refusedCursor(cursor, state);
}

/** Whether a page can end there: some partition has gone on, and some has more. */
function isPlaces(places: unknown, count: number): places is Places {
  if (!Array.isArray(places) || places.length !== count) return false;
  const isPlace = (place: unknown) => place === null || place === false || typeof place === "string";
  return places.every(isPlace) && places.some((place) => place !== null) && places.some((place) => place !== false);
}
