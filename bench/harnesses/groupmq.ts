import { Queue, Worker } from "groupmq";
import { Redis } from "ioredis";
import type { Harness, OpenHarness, Payload } from "../harness.js";

/** Jobs that this process has added. Each names a group by it, since the first of a group holds up the others. */
let added = 0;

/** Under so many calls under way it adds each on its own. */
const fewCalls = 10;

/**
 * Its documentation, for speed: adding in batches (the doc comment of `autoBatch`: 5 to 10 times as fast), no ordering and
 * nothing kept, as by default (README, "Queue Options"). Its scheduler moves 32 delayed jobs at most each time that it gets its
 * lock; the README ("Scheduler behavior and best practices") has 10 ms and a lock of 50 ms for times below a second, and a lock
 * as short as the interval lets it move five times as many.
 *
 * A group runs one job at a time, so each job has one of its own. With 1,000 groups it stored more in a second, and of 4,000
 * delayed jobs two or three were never delivered.
 */
export const open: OpenHarness = async ({ url, queue: namespace }): Promise<Harness> => {
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  redis.on("error", report);
  const shared = { redis, namespace, schedulerLockTtlMs: 10 };
  const bulk = new Queue<Payload>({ ...shared, autoBatch: { size: 1_000, maxWaitMs: 1 } });
  const alone = new Queue<Payload>(shared);
  let calls = 0;
  const workers: Worker<Payload>[] = [];
  const add = (payload: Payload, to = bulk) =>
    to.add({ groupId: String(++added), data: payload, runAt: payload.dueAt });
  return {
    scheduleMany: (payloads) => Promise.all(payloads.map((payload) => add(payload))),
    async schedule(payload) {
      calls += 1;
      try {
        // Its batches make a call wait, which pays only where there are many: its documentation advises against it else.
        await add(payload, calls < fewCalls ? alone : bulk);
      } finally {
        calls -= 1;
      }
    },
    async consume(deliver, concurrency) {
      const worker = new Worker<Payload>({
        queue: new Queue<Payload>(shared),
        concurrency,
        schedulerIntervalMs: 10,
        handler: async ({ data }) => deliver(data),
      });
      worker.on("error", report);
      workers.push(worker);
    },
    async pending() {
      // It counts those that are delayed among those that wait.
      const { active, waiting, failed } = await bulk.getJobCounts();
      return active + waiting + failed;
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.close()));
      await bulk.close();
      redis.disconnect();
    },
  };
};

function report(error: Error): void {
  process.stderr.write(`groupmq: ${error.message}\n`);
}
