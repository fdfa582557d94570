/** One of the consumers of a comparison: a process that delivers and notes each step, until it is told to end. */
import { openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { nodeRedis } from "../../src/clients/node-redis.js";
import { Queue } from "../../src/index.js";
import { followServerTime } from "../server-time.js";
import type { ConsumerJob } from "./consumer-process.js";
import { note } from "./record.js";
import { engineOf } from "./subjects.js";

const { subject, url, queue, concurrency, lease, work, notes }: ConsumerJob = JSON.parse(
  process.argv[2] ?? "",
) as ConsumerJob;
const file = openSync(notes, "a");
const connection = await nodeRedis({ url }).connect(3_000);
const time = await followServerTime(connection);
const engine = await engineOf(subject, url);
const consumer = new Queue<{ number: number }>(queue, { engine }).consume(
  async ({ payload: { number }, dueAt }) => {
    const due = dueAt.getTime();
    note(file, { kind: "started", number, dueAt: due, at: time.now() });
    if (work > 0) await sleep(work);
    note(file, { kind: "ended", number, dueAt: due, at: time.now() });
  },
  { concurrency, lease, retry: { backoff: () => 100 } },
);
consumer.on("error", (error) => console.error(error));

const ready = setInterval(() => {
  if (consumer.health().state !== "running") return;
  clearInterval(ready);
  process.send?.("ready");
}, 20);

process.on("message", () => {
  void (async () => {
    await consumer.close({ timeout: 2_000 });
    await engine.close();
    time.stop();
    connection.destroy();
    process.disconnect();
  })();
});
