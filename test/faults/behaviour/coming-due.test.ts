import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Delivery } from "../../../src/consumer/delivery.js";
import { redisEngine } from "../../../src/engines/redis/engine.js";
import { type Consumer, type Engine, Queue } from "../../../src/index.js";
import { scriptCalls } from "../../support/script-calls.js";
import { withRedis } from "../../support/with-redis.js";

/** Messages are delivered when they are due, whatever else is in the queue, and once. */

const redis = withRedis();
let engine: Engine;
let queue: Queue<number>;
let consumer: Consumer<number> | undefined;
let queues = 0;
beforeEach(() => {
  engine = redisEngine({ url: redis.url });
  queue = new Queue<number>(`due-${++queues}`, { engine });
});
afterEach(async () => {
  await consumer?.close();
  consumer = undefined;
  await engine.close();
});

/** What a test machine that does much else may be late by, ms: less than the 5 s after which a consumer asks by itself. */
const onTime = 4_000;
const hour = 3_600_000;

/** Consumes until so many were acknowledged; gives what was delivered. */
async function deliveries(
  count: number,
  options: Parameters<typeof queue.consume>[1] = {},
  handle: (message: Delivery<number>) => Promise<void> = async () => {},
): Promise<Delivery<number>[]> {
  const delivered: Delivery<number>[] = [];
  let left = count;
  const done = new Promise<void>((resolve) => {
    consumer = queue
      .consume(async (message) => {
        delivered.push(message);
        await handle(message);
      }, options)
      .on("acknowledged", () => {
        left -= 1;
        if (left === 0) resolve();
      });
  });
  await done;
  return delivered;
}

describe("A message that is due", () => {
  it("is delivered at once though 10,000 far ones were scheduled before it, with longer and with shorter delays", async () => {
    const far = Array.from({ length: 10_000 }, (_, n) => ({ payload: n, delay: hour + n }));
    await queue.scheduleMany(far);
    await queue.schedule(-1, { delay: 0 });
    const [message] = await deliveries(1);
    expect(message?.payload).toBe(-1);
    expect(message?.lateness).toBeLessThan(onTime);
  });

  it("is on time while 200 others with short delays are put in their place again and again", async () => {
    let others = 0;
    const dueAt = Date.now() + 1_000;
    const schedule = async () => void (await queue.schedule(++others, { delay: 50 + (others % 40) }));
    await Promise.all(Array.from({ length: 200 }, schedule));
    await queue.schedule(-1, { at: dueAt });
    const seen = new Promise<Delivery<number>>((resolve) => {
      consumer = queue.consume(
        async (message) => {
          if (message.payload === -1) resolve(message);
          else if (Date.now() < dueAt + onTime) await schedule();
        },
        { concurrency: 20 },
      );
    });
    const { lateness, attempt } = await seen;
    expect(attempt).toBe(1);
    expect(lateness).toBeLessThan(onTime);
    expect(others).toBeGreaterThan(400);
  });

  it("is delivered once though its delay is three times as long as a lease", async () => {
    await queue.schedule(1, { delay: 3_000 });
    const [message] = await deliveries(1, { lease: "1s" });
    expect(message).toMatchObject({ attempt: 1 });
    // Nothing is left that could come again.
    expect(await queue.counts()).toMatchObject({ scheduled: 0, due: 0, leased: 0, dead: 0 });
  });

  it.each([2, 10])("is on time in an empty queue with a concurrency of %d, time and again", async (concurrency) => {
    const late: number[] = [];
    let heard = () => {};
    consumer = queue.consume(
      (message) => {
        late.push(message.lateness);
        heard();
      },
      { concurrency },
    );
    for (let n = 0; n < 5; n++) {
      const next = new Promise<void>((resolve) => (heard = resolve));
      await queue.schedule(n, { delay: 100 + 37 * n });
      await next;
    }
    expect(late).toHaveLength(5);
    expect(Math.max(...late)).toBeLessThan(onTime);
  });

  it("is on time when it failed before: 100 that fail once come again when the wait is over", async () => {
    const wait = 400;
    await queue.scheduleMany(Array.from({ length: 100 }, (_, n) => ({ payload: n, delay: 5 * n })));
    const delivered = await deliveries(100, { retry: { attempts: 2, backoff: () => wait } }, async ({ attempt }) => {
      if (attempt === 1) throw new Error("as planned");
    });
    const again = delivered.filter(({ attempt }) => attempt === 2);
    expect(again).toHaveLength(100);
    expect(Math.max(...again.map(({ lateness }) => lateness))).toBeLessThan(onTime);
    expect(delivered).toHaveLength(200);
  });
});

describe("Messages of the year 2040", () => {
  it("that are due in the same ms keep the order of scheduling, and the ms", async () => {
    const at = Date.UTC(2040, 5, 1, 12, 0, 0, 123);
    await queue.scheduleMany(Array.from({ length: 100 }, (_, n) => ({ payload: n, at })));
    const { messages } = await queue.list({ state: "scheduled", limit: 100 });
    expect(messages.map(({ payload }) => payload)).toEqual(Array.from({ length: 100 }, (_, n) => n));
    expect(new Set(messages.map(({ dueAt }) => dueAt.getTime()))).toEqual(new Set([at]));
  });
});

describe("What a consumer sends", () => {
  it("is a few commands a message, not one for each of its 100 places", async () => {
    const messages = 100;
    await queue.scheduleMany(Array.from({ length: messages }, (_, n) => ({ payload: n, delay: 300 + 10 * n })));
    const before = await scriptCalls(redis.raw);
    await deliveries(messages, { concurrency: 100 });
    const sent = (await scriptCalls(redis.raw)) - before;
    expect(sent).toBeGreaterThan(0);
    expect(sent / messages).toBeLessThan(5);
  });
});

describe("A handler that fails after close was called", () => {
  it("leaves its message to be tried again: it is neither leased nor gone", async () => {
    let fail = () => {};
    const started = new Promise<void>((resolve) => {
      consumer = queue.consume(
        async () => {
          resolve();
          await new Promise((_, reject) => (fail = () => reject(new Error("as planned"))));
        },
        { retry: { backoff: () => hour } },
      );
    });
    await queue.schedule(1, { id: "m", delay: 0 });
    await started;
    const closed = consumer?.close();
    fail();
    await closed;
    expect(await queue.get("m")).toMatchObject({ state: "scheduled", attempt: 1 });
  });
});
