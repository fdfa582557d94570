import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { Queue } from "../../src/index.js";
import { closedAtEnd } from "../support/closed-at-end.js";
import { scriptCalls } from "../support/script-calls.js";
import { StallWatch } from "../support/stall-watch.js";
import { withRedis } from "../support/with-redis.js";

/** Each poll comes 5 s after the last claim. */
const interval = 5_000;

describe("Cheap when idle", { timeout: 60_000 }, () => {
  const many = withRedis();

  it("200 consumers of one queue do, too, and near messages are on time at a claim or two", async () => {
    const [count, near] = [200, 20];
    const late: number[] = [];
    const producer = new Queue<string>("crowd", { engine: closedAtEnd(redisEngine({ url: many.url })) });
    await producer.schedule("far", { delay: "1h" });
    const consumers = Array.from({ length: count }, () => {
      const engine = closedAtEnd(redisEngine({ url: many.url }));
      return closedAtEnd(new Queue<string>("crowd", { engine }).consume(({ lateness }) => void late.push(lateness)));
    });
    await expect.poll(() => consumers.every((consumer) => consumer.health().state === "running")).toBe(true);
    await many.raw.command("CONFIG", "RESETSTAT");
    const from = performance.now();
    // In less than two intervals each polls once or twice, however far apart they began.
    const over = sleep(2 * interval - 100);
    await producer.scheduleMany(Array.from({ length: near }, (_, n) => ({ payload: "near", delay: 500 + 200 * n })));
    await using stall = new StallWatch(() => many.raw.command("PING"));
    await over;
    expect(late).toHaveLength(near);
    expect(Math.max(...late)).toBeLessThan(50 + stall.longest());
    // The polls of all; of each near message a claim, its acknowledgement, and the deputy that was not put off in time.
    const calls = await scriptCalls(many.raw);
    const polls = Math.ceil((performance.now() - from) / interval);
    expect(calls).toBeGreaterThanOrEqual(count);
    expect(calls).toBeLessThanOrEqual(polls * count + 4 * near);
    expect(consumers.map((consumer) => consumer.health().state)).toEqual(consumers.map(() => "running"));
  });
});
