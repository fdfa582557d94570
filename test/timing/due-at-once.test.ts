import { expect, it } from "vitest";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { Queue } from "../../src/index.js";
import { closedAtEnd } from "../support/closed-at-end.js";
import { scriptCalls } from "../support/script-calls.js";
import { StallWatch } from "../support/stall-watch.js";
import { withRedis } from "../support/with-redis.js";
import { DrainProcess } from "./drain-process.js";

const redis = withRedis();
const crowdSize = 1_000_000;
const inOneCall = 10_000;
/** Promise 9: no script works for longer, ms. */
const budget = 5;
/** The time of a script passes while others have the processor, for some scripts, and this long at most, ms, besides stalls. */
const atMost = 100;

/** How long each script took that took longer than its budget, ms. */
async function slowScripts(): Promise<number[]> {
  const slow = (await redis.raw.text("SLOWLOG", "GET", -1)) as [number, number, number, string[]][];
  return slow.filter(([, , , [name]]) => name === "EVALSHA").map(([, , took]) => took / 1_000);
}

it(
  "1,000,000 messages that are due at one instant are drained, each once, while another queue on the same Redis is on time",
  { timeout: 180_000 },
  async () => {
    const engine = closedAtEnd(redisEngine({ url: redis.url }));
    const crowd = engine.open("crowd");
    const payload = Buffer.from(JSON.stringify("x".repeat(92)));
    const instant = { at: Date.now() };
    for (let from = 0; from < crowdSize; from += inOneCall) {
      await crowd.schedule(
        Array.from({ length: inOneCall }, (_, n) => ({
          id: `m${from + n}`,
          payload,
          due: instant,
          onDuplicate: "keep" as const,
        })),
      );
    }
    expect(await crowd.counts()).toMatchObject({ due: crowdSize });

    await redis.raw.command("CONFIG", "SET", "slowlog-log-slower-than", budget * 1_000, "slowlog-max-len", 100_000);
    const before = await scriptCalls(redis.raw);
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
    // Of this process alone: what makes Redis slow is no excuse.
    const machine = closedAtEnd(new StallWatch(async () => {}));
    const drain = closedAtEnd(await DrainProcess.start({ url: redis.url, queue: "crowd", messages: crowdSize }));
    // Under way: what was claimed last is not yet gone, and the next is due.
    await expect.poll(async () => (await crowd.counts()).due, { timeout: 60_000 }).toBeLessThan(crowdSize);
    await quiet.scheduleMany(Array.from({ length: 200 }, (_, n) => ({ payload: n, delay: 100 + 7 * n })));
    {
      await using stall = new StallWatch(() => redis.raw.command("PING"));
      await delivered;
      expect((await crowd.counts()).due).toBeGreaterThan(0);
      // A round trip stands behind the same scripts, which are held to their budget below. A message is behind them twice: its
      // timer asks for it, and what is given is told.
      const median = late.toSorted((one, other) => one - other)[100] ?? NaN;
      expect(median).toBeLessThanOrEqual(10 + 2 * stall.percentile(50));
    }
    expect(await drain.report).toEqual({ delivered: crowdSize, distinct: crowdSize });
    const slow = await slowScripts();
    expect(slow.length).toBeLessThan(0.05 * ((await scriptCalls(redis.raw)) - before));
    expect(Math.max(0, ...slow)).toBeLessThan(atMost + machine.longest());
    expect(await crowd.counts()).toMatchObject({ scheduled: 0, due: 0, leased: 0, dead: 0 });
  },
);
