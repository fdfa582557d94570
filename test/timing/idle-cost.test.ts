import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { Queue } from "../../src/index.js";
import { closedAtEnd } from "../support/closed-at-end.js";
import { withRedis } from "../support/with-redis.js";

const redis = withRedis();

/** Commands that clients sent since the last reset; those that scripts run are counted by Redis too, and taken out. */
async function sent(): Promise<Record<string, number>> {
  const text = String(await redis.raw.text("INFO", "commandstats"));
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
    const name = `idle-${count}`;
    const producer = closedAtEnd(redisEngine({ url: redis.url }));
    await new Queue<string>(name, { engine: producer }).schedule("far", { delay: "1h" });
    const consumers = Array.from({ length: count }, () => {
      const engine = closedAtEnd(redisEngine({ url: redis.url }));
      return closedAtEnd(new Queue<string>(name, { engine }).consume(() => {}));
    });
    await expect.poll(() => consumers.every((consumer) => consumer.health().state === "running")).toBe(true);
    await redis.raw.command("CONFIG", "RESETSTAT");
    await sleep(10_500);
    const commands = await sent();
    expect(Object.keys(commands)).toEqual(["evalsha"]);
    // A consumer that polls has claimed before, so two polls fit into the time.
    expect(commands["evalsha"]).toBeLessThanOrEqual(2 * count);
    expect(commands["evalsha"]).toBeGreaterThanOrEqual(count);
  });
});
