import { Queue, Worker } from "bullmq";
import type { Harness, OpenHarness, Payload } from "../harness.js";

/**
 * Its documentation, for speed: add in bulk (docs.bullmq.io/guide/queues/adding-bulks), work at once on as many as possible
 * (/guide/workers/concurrency), remove what is done (/guide/queues/auto-removal-of-jobs), collect no metrics (/guide/metrics; off
 * by default). Its stream of events cannot be left out; it is kept short (/guide/events). The auto-pipelining of ioredis is off:
 * taskforcesh/bullmq#457 tells of errors with it, and in #1127 the maintainer does not expect it to work. The lock stays at its
 * default, as our lease does, and checks for stalled jobs are off, so that none falls into a run.
 */
export const open: OpenHarness = async ({ url, queue: name }): Promise<Harness> => {
  const connection = { url, maxRetriesPerRequest: null };
  const queue = new Queue<Payload>(name, {
    connection,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    streams: { events: { maxLen: 1 } },
  });
  queue.on("error", report);
  await queue.waitUntilReady();
  const workers: Worker<Payload>[] = [];
  return {
    scheduleMany: (payloads) => {
      const timestamp = Date.now();
      return queue.addBulk(payloads.map((data) => ({ name: "m", data, opts: delayOf(data, timestamp) })));
    },
    schedule: (payload) => queue.add("m", payload, delayOf(payload, Date.now())),
    async consume(deliver, concurrency) {
      const worker = new Worker<Payload>(name, async ({ data }) => deliver(data), {
        connection,
        concurrency,
        skipStalledCheck: true,
      });
      worker.on("error", report);
      workers.push(worker);
      await worker.waitUntilReady();
    },
    async pending() {
      const counts = await queue.getJobCounts("wait", "active", "delayed", "failed");
      return Object.values(counts).reduce((sum, count) => sum + count, 0);
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.close()));
      await queue.close();
    },
  };
};

/** It takes a delay from the timestamp of the job; with both given the due time is ours to the ms. */
function delayOf({ dueAt }: Payload, timestamp: number) {
  return { timestamp, delay: Math.max(1, dueAt - timestamp) };
}

function report(error: Error): void {
  process.stderr.write(`bullmq: ${error.message}\n`);
}
