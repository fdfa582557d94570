import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { Queue } from "../../src/index.js";
import { closedAtEnd } from "../support/closed-at-end.js";
import { StallWatch } from "../support/stall-watch.js";
import { scriptCalls } from "../support/script-calls.js";
import { withRedis } from "../support/with-redis.js";

const redis = withRedis();

const count = 200;
const near = 20;
/** Each consumer polls 5 s after its last claim. */
const interval = 5_000;
/** In less than two of these each polls once or twice, however far apart they began, ms. */
const window = 9_900;

it("200 consumers of one queue with a far message send 0.2 commands/s each, and near messages are on time at a claim or two", async () => {
  const late: number[] = [];
  const producer = new Queue<string>("crowd", { engine: closedAtEnd(redisEngine({ url: redis.url })) });
  await producer.schedule("far", { delay: "1h" });
  const consumers = Array.from({ length: count }, () => {
    const engine = closedAtEnd(redisEngine({ url: redis.url }));
    return closedAtEnd(new Queue<string>("crowd", { engine }).consume(({ lateness }) => void late.push(lateness)));
  });
  await expect
    .poll(() => consumers.every((consumer) => consumer.health().state === "running"), { timeout: 30_000 })
    .toBe(true);
  await redis.raw.command("CONFIG", "RESETSTAT");
  const from = performance.now();
  const over = sleep(window);
  await producer.scheduleMany(Array.from({ length: near }, (_, n) => ({ payload: "near", delay: 500 + 200 * n })));
  await using stall = new StallWatch(() => redis.raw.command("PING"));
  await over;
  expect(late).toHaveLength(near);
  expect(Math.max(...late)).toBeLessThan(50 + stall.longest());
  // The polls of all; of each near message a claim, its acknowledgement, and the deputy that was not put off in time.
  const sent = await scriptCalls(redis.raw);
  const polls = Math.ceil((performance.now() - from) / interval);
  expect(sent).toBeGreaterThanOrEqual(count);
  expect(sent).toBeLessThanOrEqual(polls * count + 4 * near);
  expect(consumers.map((consumer) => consumer.health().state)).toEqual(consumers.map(() => "running"));
}, 60_000);
