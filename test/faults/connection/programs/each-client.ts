// Uses a queue on the Redis of its argument through each client library, by URL and by a client that is handed in.
import { createClient } from "@redis/client";
import { Redis } from "ioredis";
import { redisEngine } from "../../../../src/engines/redis/engine.js";
import { Queue } from "../../../../src/index.js";

const url = process.argv[2] ?? "";

/** The next engine is told that there are none, and has to understand it. */
async function withoutScripts(): Promise<void> {
  const raw = await createClient({ url }).connect();
  await raw.sendCommand(["SCRIPT", "FLUSH"]);
  raw.destroy();
}

async function main(): Promise<void> {
  const engines = [
    redisEngine({ url, library: "node-redis" }),
    redisEngine({ url, library: "ioredis" }),
    redisEngine({ client: createClient({ url }) }),
    redisEngine({ client: new Redis(url, { lazyConnect: true }) }),
  ];
  for (const engine of engines) {
    const orders = new Queue<string>("orders", { engine });
    const { outcome } = await orders.schedule("A1", { delay: "1h", id: "order:A1", timeout: "3s" });
    process.stdout.write(`${outcome} ${await orders.cancel("order:A1")}\n`);
    await engine.close();
    await withoutScripts();
  }
}

void main();
