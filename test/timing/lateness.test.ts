import { expect, it } from "vitest";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { Queue } from "../../src/index.js";
import { StallWatch } from "../support/stall-watch.js";
import { withRedis } from "../support/with-redis.js";

const redis = withRedis();

/** Numbers from 0 to 1 that are the same in each run (mulberry32). */
function seeded(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

it("300 random due times on a quiet server: half at most 2 ms late, 99 in 100 at most 10 ms, none early", async () => {
  // A process each, as far as Redis can tell.
  await using producer = redisEngine({ url: redis.url });
  await using engine = redisEngine({ url: redis.url });
  const late: number[] = [];
  const starts: number[] = [];
  let allDelivered = () => {};
  const delivered = new Promise<void>((resolve) => (allDelivered = resolve));
  await using consumer = new Queue<number>("lateness", { engine }).consume((message) => {
    starts.push(engineNow() - message.dueAt.getTime());
    late.push(message.lateness);
    if (late.length === 300) allDelivered();
  });
  const { clock } = engine.open("lateness");
  const engineNow = () => clock.now();
  await expect.poll(() => consumer.health().state).toBe("running");
  const random = seeded(7);
  await new Queue<number>("lateness", { engine: producer }).scheduleMany(
    Array.from({ length: 300 }, (_, n) => ({ payload: n, delay: 200 + random() * 5_000 })),
  );
  await using stall = new StallWatch(() => redis.raw.command("PING"));
  await delivered;
  // The lateness that a handler is told never is negative; the clock of the engine, at the latest the true one, might be.
  expect(Math.min(...starts)).toBeGreaterThanOrEqual(-1);
  const [median = NaN, almostAll = NaN] = [150, 297].map((place) => late.toSorted((a, b) => a - b)[place]);
  expect(median).toBeLessThanOrEqual(2 + stall.percentile(50));
  expect(almostAll).toBeLessThanOrEqual(10 + stall.percentile(99));
});
