import { expect, it } from "vitest";
import { memoryEngine } from "../engines/memory/engine.js";
import { Queue } from "../queue.js";
import { manualClock } from "../testing/manual-clock.js";

it("delivers a message at its due time and acknowledges it", async () => {
  const clock = manualClock();
  const queue = new Queue<{ orderId: string }>("orders", { engine: memoryEngine({ clock }) });
  const told: string[] = [];
  const consumer = queue.consume((message) => {
    told.push(
      `handled ${message.payload.orderId} attempt ${message.attempt} of ${message.attempts}, ${message.lateness} ms late`,
    );
  });
  consumer.on("acknowledged", ({ id }) => told.push(`acknowledged ${id}`));

  await queue.schedule({ orderId: "A1" }, { delay: "30m", id: "order:A1" });
  await clock.advance("29m");
  expect(told).toEqual([]);
  await clock.advance("1m");

  expect(told).toEqual(["handled A1 attempt 1 of 5, 0 ms late", "acknowledged order:A1"]);
  expect(await queue.get("order:A1")).toBeUndefined();
  await consumer.close();
  expect(consumer.health().state).toBe("closed");
});
