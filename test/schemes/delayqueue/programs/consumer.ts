// A consumer as a process of its own. It writes down each delivery before it does anything else, so that what it was given is
// known although it is killed.
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { delayqueueEngine } from "../../../../src/engines/delayqueue/engine.js";
import { Queue } from "../../../../src/queue.js";
import type { Order } from "../fleet.js";

const { url, queue, journal } = JSON.parse(process.argv[2] ?? "") as Order;
new Queue<null>(queue, { engine: delayqueueEngine({ url }) }).consume(
  async (message) => {
    // Redis runs on this machine, so its clock is the same.
    const early = message.lateness < 0 || Date.now() < message.dueAt.getTime() - 1;
    appendFileSync(journal, `${message.id} ${early ? "early" : "due"}\n`);
    await sleep(20);
  },
  { concurrency: 20, lease: "1s", retry: { attempts: 1_000 } },
);

process.on("disconnect", () => process.exit());
