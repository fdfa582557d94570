import { PunctualError } from "../errors.js";
import { sameFailure } from "../partial-results.js";

/** How a list is cut into calls of bounded work (promise 9). */
export interface Cut<Item> {
  /** What a call may not hold twice, since a script reads all before it writes: a second one begins the next call. */
  readonly id: (item: Item) => string;
  /** Items in one call at most. Default 250. */
  readonly items?: number;
  /** Bytes that an item adds to a call. Default: they do not count. */
  readonly bytes?: (item: Item) => number;
}

/** Items in one call at most. On a busy machine 500 took Redis 4.1 ms to retry or bury (median), and up to 7.5 ms. */
const itemsPerCall = 250;

/**
 * Bytes in one call at most, unless one item alone has more. On a busy machine 512 KiB in messages of 1 KiB took Redis 5 ms to
 * store (median), 256 KiB 3 ms.
 */
export const bytesPerCall = 256 * 1024;

/**
 * Answers a list of any length by calls that follow each other. With two under way, when the first has to be repeated it runs
 * after the second: messages with one due time would lose their order, and of two with one id the wrong one would win.
 * `call` answers at least the first of the items it is given, and leaves the rest to the next call.
 *
 * When a call fails, the error carries the answers so far in `details.results`, `undefined` where there is none.
 */
export async function inChunks<Item, Answer>(
  items: readonly Item[],
  cut: Cut<Item>,
  call: (chunk: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  const { items: atMost = itemsPerCall } = cut;
  let most = atMost;
  while (answers.length < items.length) {
    const chunk = items.slice(answers.length, chunkEnd(items, answers.length, most, cut));
    try {
      const some = await call(chunk);
      if (some.length === 0 || some.length > chunk.length) {
        throw new PunctualError("outcome-unknown", `a script answered ${some.length} of ${chunk.length} items`);
      }
      for (const answer of some) answers.push(answer);
      // What a script leaves over is sent again: with large bodies, where it does a few, only about as many as it can do.
      most = some.length < chunk.length ? Math.min(atMost, some.length * 2 + 6) : atMost;
    } catch (error) {
      throw withResults(error, answers, items.length);
    }
  }
  return answers;
}

function chunkEnd<Item>(items: readonly Item[], from: number, most: number, { id, bytes }: Cut<Item>): number {
  const ids = new Set<string>();
  let size = 0;
  let end = from;
  for (; end < items.length && end - from < most; end++) {
    const item = items[end];
    if (item === undefined) break;
    size += bytes?.(item) ?? 0;
    if (end > from && size > bytesPerCall) break;
    // One look-up an item: the set grows unless the id was in it.
    if (ids.add(id(item)).size === end - from) break;
  }
  return end;
}

function withResults<Answer>(error: unknown, answers: readonly Answer[], length: number): unknown {
  if (!(error instanceof PunctualError)) return error;
  const results: (Answer | undefined)[] = Array.from({ length }, (_, index) => answers[index]);
  return sameFailure(error, { ...error.details, results });
}
