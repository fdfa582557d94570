// A consumer as a process of its own. It writes down each delivery before it does anything else, so that what it was given is
// known although it is killed.
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { zsetListEngine } from "../../../../src/engines/zset-list/engine.js";
import { Queue } from "../../../../src/queue.js";
import type { Order } from "../fleet.js";

const { url, queue, reliable, journal, takes } = JSON.parse(process.argv[2] ?? "") as Order;
const engine = zsetListEngine({ url, reliable });
const consumer = new Queue<null>(queue, { engine }).consume(
  async (message) => {
    const early = message.lateness < 0 || Date.now() < message.dueAt.getTime() - 1;
    appendFileSync(journal, `${message.id} ${message.attempt} ${early ? "early" : "due"}\n`);
    if (takes > 0) await sleep(takes);
  },
  { concurrency: 20, lease: "1s", retry: { attempts: 1_000 } },
);

process.on("disconnect", () => process.exit());
process.on("message", (order) => {
  if (order === "close") void consumer.close().then(() => engine.close().then(() => process.disconnect()));
});
