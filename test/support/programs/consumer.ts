// A consumer as a process of its own. It writes down each delivery before it does anything else, so that what it was given is
// known although it is killed.
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Engine } from "../../../src/engine.js";
import { delayqueueEngine } from "../../../src/engines/delayqueue/engine.js";
import { zsetListEngine } from "../../../src/engines/zset-list/engine.js";
import { zsetRemoveEngine } from "../../../src/engines/zset-remove/engine.js";
import { zsetWatchEngine } from "../../../src/engines/zset-watch/engine.js";
import { Queue } from "../../../src/queue.js";
import type { Order } from "../fleet.js";

const engines: Readonly<Record<string, (options: { url: string }) => Engine>> = {
  delayqueue: delayqueueEngine,
  "zset-list": zsetListEngine,
  "zset-remove": zsetRemoveEngine,
  "zset-watch": zsetWatchEngine,
};

const { url, queue, engine: name, options, journal, takes } = JSON.parse(process.argv[2] ?? "") as Order;
const makeEngine = engines[name];
if (makeEngine === undefined) throw new Error(`There is no engine ${name} here.`);
const engine = makeEngine({ url, ...options });
const consumer = new Queue<unknown>(queue, { engine }).consume(
  async (message) => {
    // Redis runs on this machine, so its clock is the same.
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
