import { expect, it } from "vitest";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { Queue } from "../../src/index.js";
import { closedAtEnd } from "../support/closed-at-end.js";
import { workOf } from "../support/redis-work.js";
import { StallWatch } from "../support/stall-watch.js";
import { withRedis } from "../support/with-redis.js";
import { DrainProcess } from "./drain-process.js";

const redis = withRedis();
/** What the processor of Redis worked for scripts so far, ms, and how many there were. */
async function used() {
  const calls = /^cmdstat_evalsha:calls=(\d+)/m.exec(String(await redis.raw.text("INFO", "commandstats")));
  return { work: await workOf(redis.raw), scripts: Number(calls?.[1] ?? 0) };
}

const million = 1_000_000;
const inOneCall = 10_000;

it(
  "1,000,000 messages that are due at one instant are drained, each once, while another queue on the same Redis is on time",
  { timeout: 60_000 },
  async () => {
    const engine = closedAtEnd(redisEngine({ url: redis.url }));
    const crowd = engine.open("crowd");
    const payload = Buffer.from(JSON.stringify("x".repeat(92)));
    const instant = { at: Date.now() };
    for (let from = 0; from < million; from += inOneCall) {
      await crowd.schedule(
        Array.from({ length: inOneCall }, (_, n) => ({
          id: `m${from + n}`,
          payload,
          due: instant,
          onDuplicate: "keep" as const,
        })),
      );
    }
    expect(await crowd.counts()).toMatchObject({ due: million });

    const before = await used();
    const late: number[] = [];
    let allDelivered = () => {};
    const delivered = new Promise<void>((resolve) => (allDelivered = resolve));
    const quiet = new Queue<number>("quiet", { engine: closedAtEnd(redisEngine({ url: redis.url })) });
    const consumer = closedAtEnd(
      quiet.consume(({ lateness }) => {
        late.push(lateness);
        if (late.length === 200) allDelivered();
      }),
    );
    await expect.poll(() => consumer.health().state).toBe("running");
    const drain = closedAtEnd(await DrainProcess.start({ url: redis.url, queue: "crowd", messages: million }));
    // Under way: what was claimed last is not yet gone, and the next is due.
    await expect.poll(async () => (await crowd.counts()).due, { timeout: 10_000 }).toBeLessThan(million);
    await quiet.scheduleMany(Array.from({ length: 200 }, (_, n) => ({ payload: n, delay: 100 + 7 * n })));
    {
      await using stall = new StallWatch(() => redis.raw.command("PING"));
      await delivered;
      expect((await crowd.counts()).due).toBeGreaterThan(0);
      // A round trip stands behind the same scripts, which are held to their budget below. The timer and the claim may each
      // meet one of the stalls, and so may what is in front of them.
      const [median = NaN, almostAll = NaN] = [100, 198].map((place) => late.toSorted((a, b) => a - b)[place]);
      expect(median).toBeLessThanOrEqual(10 + stall.percentile(50));
      expect(almostAll).toBeLessThanOrEqual(30 + 3 * stall.percentile(99));
    }
    expect(await drain.report).toEqual({ delivered: million, distinct: million });
    const after = await used();
    // Half of them claim, and half acknowledge.
    expect((after.work - before.work) / (after.scripts - before.scripts)).toBeLessThan(5);
    expect(await crowd.counts()).toMatchObject({ scheduled: 0, due: 0, leased: 0, dead: 0 });
  },
);
