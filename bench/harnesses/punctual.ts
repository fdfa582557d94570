import type { Engine } from "../../src/engine.js";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { type Consumer, Queue } from "../../src/index.js";
import type { Harness, OpenHarness, Payload } from "../harness.js";

/** Ours. A private Redis keeps nothing on a disk, which is what the warnings would say. */
export const open: OpenHarness = async ({ url, queue }) => harnessOn(redisEngine({ url, onWarning: () => {} }), queue);

/** The same on any engine. */
export function harnessOn(engine: Engine, name: string): Harness {
  const queue = new Queue<Payload>(name, { engine });
  const consumers: Consumer<Payload>[] = [];
  return {
    scheduleMany: (payloads) => queue.scheduleMany(payloads.map((payload) => ({ payload, at: payload.dueAt }))),
    schedule: (payload) => queue.schedule(payload, { at: payload.dueAt }),
    async consume(deliver, concurrency) {
      const consumer = queue.consume(async ({ payload }) => deliver(payload), { concurrency });
      consumer.on("error", (error) => process.stderr.write(`${String(error)}\n`));
      consumers.push(consumer);
    },
    async pending() {
      const { scheduled, due, leased, dead } = await queue.counts();
      return scheduled + due + leased + dead;
    },
    async close() {
      await Promise.all(consumers.map((consumer) => consumer.close()));
      await engine.close();
    },
  };
}
