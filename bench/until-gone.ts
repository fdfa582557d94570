import { setTimeout as sleep } from "node:timers/promises";
import type { Delivered, Harness } from "./harness.js";

/** After how long without a delivery a run is given up, ms. */
const patience = 40_000;

/**
 * Consumes until the messages with numbers below `count` have been delivered, and no more are left than `others`, which come due
 * later. Tells the first delivery of each.
 */
export async function untilGone(
  harness: Harness,
  count: number,
  concurrency: number,
  { deliver = () => {}, others = 0 }: { deliver?: (delivered: Delivered) => void; others?: number } = {},
): Promise<void> {
  const seen = new Uint8Array(count);
  let left = count;
  let news = performance.now();
  let finish = () => {};
  let giveUp: (error: Error) => void = () => {};
  const all = new Promise<void>((resolve, reject) => ([finish, giveUp] = [resolve, reject]));
  const watch = setInterval(() => {
    if (performance.now() - news < patience) return;
    giveUp(new Error(`${left} of ${count} messages were not delivered, and none for ${patience} ms.`));
  }, 1_000);
  try {
    await harness.consume((delivered) => {
      if (seen[delivered.number] === 1) return;
      seen[delivered.number] = 1;
      deliver(delivered);
      left -= 1;
      news = performance.now();
      if (left === 0) finish();
    }, concurrency);
    await all;
    while ((await harness.pending()) > others) await sleep(1);
  } finally {
    clearInterval(watch);
  }
}
