import BeeQueue from "bee-queue";
import type { Harness, OpenHarness, Payload } from "../harness.js";

/** What both sides have: nothing that is done is kept, and nobody is told of single jobs. */
const plain = {
  removeOnSuccess: true,
  removeOnFailure: true,
  storeJobs: false,
  sendEvents: false,
  getEvents: false,
};

/**
 * Its README, for speed: `saveAll` ("Bulk-Creating Jobs"), no events, no jobs in memory, and what is done removed ("Settings");
 * the connection for events is left out on the side that needs none ("Under the hood"). It waits a second for more delayed jobs
 * before it moves those that are due, unless told otherwise; here it waits a millisecond, the least that it takes.
 */
export const open: OpenHarness = async ({ url, queue: name }): Promise<Harness> => {
  const redis = { url } as const;
  const producer = new BeeQueue<Payload>(name, { ...plain, redis, isWorker: false });
  producer.on("error", report);
  await producer.ready();
  const workers: BeeQueue<Payload>[] = [];
  const jobOf = (payload: Payload) => producer.createJob(payload).delayUntil(payload.dueAt);
  return {
    async scheduleMany(payloads) {
      const errors = await producer.saveAll(payloads.map(jobOf));
      for (const error of errors.values()) throw error;
    },
    schedule: (payload) => jobOf(payload).save(),
    async consume(deliver, concurrency) {
      const worker = new BeeQueue<Payload>(name, { ...plain, redis, activateDelayedJobs: true, delayedDebounce: 1 });
      worker.on("error", report);
      workers.push(worker);
      await worker.ready();
      worker.process(concurrency, async ({ data }) => deliver(data));
    },
    async pending() {
      const { waiting, active, failed, delayed } = await producer.checkHealth();
      return waiting + active + failed + delayed;
    },
    async close() {
      await Promise.all([...workers, producer].map((queue) => queue.close()));
    },
  };
};

function report(error: Error): void {
  process.stderr.write(`bee-queue: ${error.message}\n`);
}
