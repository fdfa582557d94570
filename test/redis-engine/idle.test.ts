import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { Queue } from "../../src/index.js";
import { closedAtEnd } from "../support/closed-at-end.js";
import type { RawRedis } from "../support/raw-redis.js";
import { withRedis } from "../support/with-redis.js";

/** Each poll comes 5 s after the last claim. */
const interval = 5_000;

/** Commands that clients sent since the last reset; those that scripts run are counted by Redis too, and taken out. */
async function sent(raw: RawRedis): Promise<Record<string, number>> {
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

/** What is counted is the same on a busy machine: it takes a pause of 4 s to change it. */
const few = [1, 4].map((count) => ({ count, redis: withRedis() }));

it(
  "Cheap when idle: 1 and 4 idle consumers send 0.2 commands/s each at most, with a far message scheduled",
  { timeout: 60_000 },
  async () => {
    for (const { count, redis } of few) {
      const producer = closedAtEnd(redisEngine({ url: redis.url }));
      await new Queue<string>("idle", { engine: producer }).schedule("far", { delay: "1h" });
      const consumers = Array.from({ length: count }, () => {
        const engine = closedAtEnd(redisEngine({ url: redis.url }));
        return closedAtEnd(new Queue<string>("idle", { engine }).consume(() => {}));
      });
      await expect.poll(() => consumers.every((consumer) => consumer.health().state === "running")).toBe(true);
      await redis.raw.command("CONFIG", "RESETSTAT");
    }
    await sleep(2 * interval + 500);
    for (const { count, redis } of few) {
      const commands = await sent(redis.raw);
      expect(Object.keys(commands)).toEqual(["evalsha"]);
      // A consumer that polls has claimed before, so two polls fit into the time, and a little.
      expect(commands["evalsha"]).toBeLessThanOrEqual(2 * count);
      expect(commands["evalsha"]).toBeGreaterThanOrEqual(count);
    }
  },
);
