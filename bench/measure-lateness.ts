import { Lateness } from "../demo/lateness.js";
import { seededRandom } from "../demo/seeded-random.js";
import { followServerTime } from "../demo/server-time.js";
import { scheduleAll } from "./bulk.js";
import { assertNotYetDue } from "./not-yet-due.js";
import { randomPayloads } from "./payloads.js";
import type { Stage } from "./scenario.js";
import { untilGone } from "./until-gone.js";

/** What is due when, and who takes it. */
export interface Load {
  readonly messages: number;
  /** Due times lie, evenly at random, in a stretch of this length, ms. */
  readonly spread: number;
  readonly concurrency: number;
  /** What is to happen when all are scheduled, before the first comes due. */
  readonly whenScheduled?: () => Promise<void>;
}

/** How many messages the slowest subject stores in a ms, with room to spare, and the least time ahead, ms. */
const storedInMs = 8;
const leastAhead = 1_500;

/**
 * How late messages start that were scheduled well ahead, to a consumer that waits for them, by the clock of Redis: the latest
 * that it can be, which on one machine is about 0.1 ms more than it is.
 */
export async function measureLateness(
  { open, connection }: Pick<Stage, "open" | "connection">,
  load: Load,
): Promise<Lateness> {
  const time = await followServerTime(connection);
  try {
    const [producer, consumer] = [await open(), await open()];
    const late: number[] = [];
    const from = Math.ceil(time.now() + leastAhead + load.messages / storedInMs);
    const payloads = randomPayloads(load.messages, { from, spread: load.spread, random: seededRandom(1) });
    await Promise.all([
      untilGone(consumer, load.messages, load.concurrency, {
        deliver: ({ dueAt }) => late.push(time.now() - dueAt),
      }),
      scheduleAll(producer, payloads)
        .then(load.whenScheduled)
        .then(() => assertNotYetDue("All was ready", from, time.now())),
    ]);
    return new Lateness(late);
  } finally {
    time.stop();
  }
}
