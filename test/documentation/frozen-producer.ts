// A process that schedules one message each time that it is told to, with an engine that it made at its start.
import { Queue } from "../../src/index.js";
import { redisEngine } from "../../src/engines/redis/engine.js";

const engine = redisEngine({ url: process.argv[2] ?? "" });
const carts = new Queue<null>("abandoned-carts", { engine });

async function schedule(id: string): Promise<void> {
  const { outcome } = await carts.schedule(null, { delay: "1d", id, timeout: "3s" });
  process.send?.(outcome);
}
process.on("message", (id: string) => void schedule(id));
