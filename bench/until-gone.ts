import type { Delivered, Harness } from "./harness.js";
import { until } from "./until.js";

/** After how long without news a run is given up, ms. */
const usualPatience = 40_000;

/** What to do with deliveries, and when to give up. */
interface Watching {
  /** Is told the first delivery of each message. */
  readonly deliver?: (delivered: Delivered) => void;
  readonly patience?: number;
}

/** Consumes until the messages with numbers below `count` have been delivered; some may not be acknowledged yet. */
export async function untilDelivered(
  harness: Harness,
  count: number,
  concurrency: number,
  { deliver = () => {}, patience = usualPatience }: Watching = {},
): Promise<void> {
  const seen = new Uint8Array(count);
  let left = count;
  let news = performance.now();
  let finish = () => {};
  let giveUp: (error: Error) => void = () => {};
  const all = new Promise<void>((resolve, reject) => ([finish, giveUp] = [resolve, reject]));
  const watch = setInterval(
    () => {
      if (performance.now() - news < patience) return;
      giveUp(new Error(`${left} of ${count} messages were not delivered, and none for ${patience} ms.`));
    },
    Math.min(1_000, patience),
  );
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
  } finally {
    clearInterval(watch);
  }
}

/** Waits until no more messages are left than `others`, which come due later. */
export async function untilLeft(harness: Harness, others: number, patience = usualPatience): Promise<void> {
  let left = 0;
  await until(async () => (left = await harness.pending()) <= others, {
    every: 1,
    patience,
    otherwise: () => `All messages were delivered, but ${left - others} were not gone ${patience} ms later.`,
  });
}

/** Consumes until the messages with numbers below `count` have been delivered, and no more are left than `others`. */
export async function untilGone(
  harness: Harness,
  count: number,
  concurrency: number,
  { others = 0, ...watching }: Watching & { readonly others?: number } = {},
): Promise<void> {
  await untilDelivered(harness, count, concurrency, watching);
  await untilLeft(harness, others, watching.patience);
}
