// Consumes a queue in a process of its own until it has acknowledged so many messages, named m0, m1 and so on; tells then how
// many it was given, and how many of them were others.
import { redisEngine } from "../../../src/engines/redis/engine.js";
import { Queue } from "../../../src/queue.js";
import type { DrainReport, DrainTask } from "../drain-process.js";

const { url, queue, messages } = JSON.parse(process.argv[2] ?? "") as DrainTask;
const seen = new Uint8Array(messages);
let [delivered, acknowledged] = [0, 0];
const engine = redisEngine({ url });
const consumer = new Queue<unknown>(queue, { engine })
  .consume(
    ({ id }) => {
      delivered += 1;
      seen[Number(id.slice(1))] = 1;
    },
    { concurrency: 2_000 },
  )
  .on("acknowledged", () => {
    acknowledged += 1;
    if (acknowledged === messages) void end();
  });

process.on("disconnect", () => process.exit());

async function end(): Promise<void> {
  await consumer.close();
  await engine.close();
  const report: DrainReport = { delivered, distinct: seen.reduce((sum, one) => sum + one, 0) };
  process.send?.(report, () => process.disconnect());
}
