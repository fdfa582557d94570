// A consumer as a process of its own. It tells its parent by messages what it does, and is told what to do: see WorkerProcess.
import { redisEngine } from "../../../../src/engines/redis/engine.js";
import { Queue } from "../../../../src/queue.js";
import { RecordedConsumer, type RecordedOptions } from "../recorded-consumer.js";
import type { Task } from "../task.js";

const { url, queue, ...options } = JSON.parse(process.argv[2] ?? "") as RecordedOptions & {
  url: string;
  queue: string;
};
const engine = redisEngine({ url });
const consumer = new RecordedConsumer(new Queue<Task>(queue, { engine }), options, (entry) => process.send?.(entry));

process.on("disconnect", () => process.exit());
process.on("message", (order) => {
  if (order === "let go") consumer.letGo();
  if (order === "close") void close();
});

async function close(): Promise<void> {
  await consumer.close({ timeout: 100 });
  await engine.close();
  process.disconnect();
}
