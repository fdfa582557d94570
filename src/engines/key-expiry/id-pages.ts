import { pageSize } from "./scripts/take.js";

/** Ids that were read of the set, and where to read on: empty when there are no more. */
export interface IdPage {
  readonly cursor: string;
  readonly page: readonly string[];
}

/**
 * Gives all ids to `call`, some at a time and each once, which answers with those that come next. So a script that works on
 * messages is told all of their keys, and need not be called twice for a page.
 *
 * Ids that are there from the beginning to the end are given. The set may tell one twice when it shrinks, so those that were
 * given are remembered meanwhile.
 */
export async function idPages(call: (ids: readonly string[], cursor: string) => Promise<IdPage>): Promise<void> {
  const given = new Set<string>();
  let waiting: string[] = [];
  let cursor = "0";
  do {
    const ids = waiting.splice(0, pageSize);
    const answer = await call(ids, waiting.length > 0 ? "" : cursor);
    if (waiting.length > 0) continue;
    cursor = answer.cursor === "0" ? "" : answer.cursor;
    waiting = answer.page.filter((id) => given.size !== given.add(id).size);
  } while (waiting.length > 0 || cursor !== "");
}
