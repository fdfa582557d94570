/** One of the consumers of a comparison: a process that delivers and notes each step, until it is told to end. */
import { openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { nodeRedis } from "../../src/clients/node-redis.js";
import { Queue } from "../../src/index.js";
import { followServerTime } from "../server-time.js";
import type { ConsumerJob } from "./consumer-process.js";
import { note } from "./record.js";
import { engineOf } from "./subjects.js";

let ending: Promise<void> | undefined;

// The comparison was killed: nobody reads what this one notes any more. Before all that waits, so that it is not missed.
process.on("disconnect", () => {
  if (ending === undefined) process.exit();
});

const { subject, url, clock, queue, concurrency, lease, work, notes }: ConsumerJob = JSON.parse(
  process.argv[2] ?? "",
) as ConsumerJob;
const file = openSync(notes, "a");
const connection = await nodeRedis({ url: clock }).connect(3_000);
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

async function end(): Promise<void> {
  await consumer.close({ timeout: 2_000 });
  await engine.close();
  time.stop();
  connection.destroy();
  if (process.connected) process.disconnect();
}

process.on("message", () => void (ending ??= end()));
