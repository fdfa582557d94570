import type { ConsumeOptions } from "../../src/consumer/consume-options.js";
import type { Consumer } from "../../src/consumer/consumer.js";
import type { Handler } from "../../src/consumer/delivery.js";
import type { EngineQueue } from "../../src/engine.js";
import { memoryEngine } from "../../src/engines/memory/engine.js";
import { PunctualError } from "../../src/errors.js";
import { Queue } from "../../src/queue.js";
import { interposed } from "../../src/testing/conformance/interposed-engine.js";
import { manualClock } from "../../src/testing/manual-clock.js";

/** What a call fails with while the store is down. */
export const down = new PunctualError("not-sent", "The store is down.");

/** A queue in memory on a manual clock, whose calls can be made to fail or to wait. */
export function consumerStage() {
  const clock = manualClock();
  const faults = new Map<keyof EngineQueue, () => Promise<void>>();
  const delays = new Map<keyof EngineQueue, () => Promise<void>>();
  const calls: string[] = [];
  const memory = memoryEngine({ clock });
  const engine = interposed(memory, {
    async around(operation, call) {
      calls.push(operation);
      await faults.get(operation)?.();
      const answer = await call();
      await delays.get(operation)?.();
      return answer;
    },
  });
  const queue = new Queue<string>("q", { engine });
  const told: string[] = [];
  const errors: unknown[] = [];
  const consume = (handler: Handler<string>, options: ConsumeOptions = {}): Consumer<string> =>
    queue
      .consume(handler, options)
      .on("acknowledged", ({ id }) => told.push(`acknowledged ${id}`))
      .on("retried", ({ id }, { delay }) => told.push(`retried ${id} in ${delay}`))
      .on("buried", ({ id }, { reason }) => told.push(`buried ${id}: ${reason}`))
      .on("leaseLost", ({ id }, { code }) => told.push(`leaseLost ${id}: ${code}`))
      .on("recovered", () => told.push("recovered"))
      .on("error", (error) => errors.push(error));
  const put = (...ids: string[]) => queue.scheduleMany(ids.map((id) => ({ payload: id, id, delay: 0 })));
  return { clock, memory, queue, consume, put, told, errors, calls, faults, delays };
}
