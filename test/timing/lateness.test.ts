import { afterAll, beforeAll, expect, it } from "vitest";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { type RedisServer, startRedisServer } from "../../src/testing/redis-server.js";
import { type RawRedis, rawRedis } from "../support/raw-redis.js";
import { EngineConsumer } from "./engine-consumer.js";
import { StallWatch } from "./stall-watch.js";

let server: RedisServer;
let raw: RawRedis;
beforeAll(async () => {
  server = await startRedisServer();
  raw = await rawRedis(server.url);
});
afterAll(async () => {
  raw.close();
  await server.stop();
});

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
  const consumer = new EngineConsumer(redisEngine({ url: server.url }), "lateness", "c", 10);
  const producer = redisEngine({ url: server.url });
  await consumer.start();
  const random = seeded(7);
  await producer.open("lateness").schedule(
    Array.from({ length: 300 }, (_, n) => ({
      id: `m${n}`,
      payload: Buffer.from("x"),
      due: { delay: 200 + random() * 5_000 },
      onDuplicate: "keep" as const,
    })),
  );
  await using stall = new StallWatch(() => raw.command("PING"));
  await consumer.taken(300);
  const late = [...consumer.lateness.values()].toSorted((a, b) => a - b);
  const [earliest = NaN, median = NaN, almostAll = NaN] = [late[0], late[150], late[297]];
  expect(earliest).toBeGreaterThanOrEqual(0);
  expect(median).toBeLessThanOrEqual(2 + stall.percentile(50));
  expect(almostAll).toBeLessThanOrEqual(10 + stall.percentile(99));
  await Promise.all([consumer.stop(), producer.close()]);
});
