import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { type RedisServer, startRedisServer } from "../../src/testing/redis-server.js";
import { type RawRedis, rawRedis } from "../support/raw-redis.js";
import { EngineConsumer } from "./engine-consumer.js";

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

/** Commands that clients sent since the last reset; those that scripts run are counted by Redis too, and taken out. */
async function sent(): Promise<Record<string, number>> {
  const text = String(await raw.text("INFO", "commandstats"));
  const calls = Object.fromEntries(
    [...text.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(([, name = "", count]) => [name, Number(count)]),
  );
  const inScripts = /^(hmget|hget|hset|hdel|hlen|zrange.*|zrevrange.*|zrem.*|zadd|publish|hrandfield)$/;
  const scripts = calls["evalsha"] ?? 0;
  return Object.fromEntries(
    Object.entries(calls)
      // Each script asks for the time once.
      .map(([name, count]): [string, number] => [name, name === "time" ? count - scripts : count])
      .filter(([name, count]) => count > 0 && !inScripts.test(name) && !/^(info|config\|resetstat)$/.test(name)),
  );
}

describe("Cheap when idle", () => {
  it.each([1, 4])("%d idle consumers send 0.2 commands/s each at most, with a far message scheduled", async (count) => {
    const queue = `idle-${count}`;
    const consumers = Array.from(
      { length: count },
      (_, n) => new EngineConsumer(redisEngine({ url: server.url }), queue, `c${n}`, 10),
    );
    const producer = redisEngine({ url: server.url });
    const hour = { delay: 3_600_000 };
    await producer
      .open(queue)
      .schedule([{ id: "far", payload: Buffer.from("x"), due: hour, onDuplicate: "keep" as const }]);
    for (const consumer of consumers) await consumer.start();
    await raw.command("CONFIG", "RESETSTAT");
    await sleep(10_500);
    const commands = await sent();
    expect(Object.keys(commands)).toEqual(["evalsha"]);
    // A consumer that polls has claimed before, so two polls fit into the time.
    expect(commands["evalsha"]).toBeLessThanOrEqual(2 * count);
    expect(commands["evalsha"]).toBeGreaterThanOrEqual(count);
    await Promise.all([...consumers.map((consumer) => consumer.stop()), producer.close()]);
  });
});
