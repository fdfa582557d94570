import { createHash } from "node:crypto";
import type { ListPage, ListQuery, MessageState } from "./engine.js";
import { PunctualError } from "./errors.js";
import { invalidValue } from "./invalid-argument.js";

/** How much of a hash a cursor carries: one in 16 million pairs of queues has the same, and a cursor grows by 4 characters. */
const markBytes = 3;

/**
 * Lists a page whose cursor is marked with its queue and state: the place behind it means nothing elsewhere, and would give a
 * page without what should be on it. `queue` tells it from all others that a program may have cursors of. Fails with
 * `invalid-argument` when the cursor is of another, or none.
 */
export async function listMarked(
  queue: string,
  query: ListQuery,
  list: (query: ListQuery) => Promise<ListPage>,
): Promise<ListPage> {
  const { state, cursor } = query;
  const mark = createHash("sha256").update(`${state} ${queue}`).digest().subarray(0, markBytes).toString("base64url");
  if (cursor !== undefined && !cursor.startsWith(mark)) throw refusedCursor(cursor, state);
  try {
    const page = await list({ ...query, cursor: cursor?.slice(mark.length) });
    return page.cursor === undefined ? page : { ...page, cursor: mark + page.cursor };
  } catch (error) {
    // Told as the caller gave it.
    if (cursor !== undefined && isRefusedCursor(error)) throw refusedCursor(cursor, state);
    throw error;
  }
}

/** What is said of text that is no cursor of a list of this queue and state. */
export function refusedCursor(cursor: string, state: MessageState): PunctualError {
  return invalidValue("cursor", cursor, `the cursor of a page of ${state} messages of this queue, unchanged`);
}

function isRefusedCursor(error: unknown): boolean {
  return error instanceof PunctualError && error.code === "invalid-argument" && error.details["argument"] === "cursor";
}
