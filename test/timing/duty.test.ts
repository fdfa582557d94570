import { afterEach, describe, expect, it } from "vitest";
import type { Engine, NewMessage } from "../../src/engine.js";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { queueKeys } from "../../src/engines/redis/keys.js";
import { Queue } from "../../src/index.js";
import { stoppable } from "../../src/testing/conformance/interposed-engine.js";
import { closedAtEnd } from "../support/closed-at-end.js";
import { StallWatch } from "../support/stall-watch.js";
import { withRedis } from "../support/with-redis.js";
import { EngineConsumer } from "./engine-consumer.js";

/** One on duty: what waiting consumers cost, and what happens when the one on duty does not come. */

const redis = withRedis();

let crew: EngineConsumer[] = [];
afterEach(async () => {
  await Promise.all(crew.map((consumer) => consumer.stop()));
  crew = [];
});

let queues = 0;

/** Consumers with a connection each, as processes have. */
async function consumers(count: number, room: number) {
  const name = `duty-${++queues}`;
  crew = Array.from(
    { length: count },
    (_, n) => new EngineConsumer(redisEngine({ url: redis.url }), name, `consumer-${n}`, room),
  );
  for (const consumer of crew) await consumer.start();
  const producer = redisEngine({ url: redis.url });
  /** Messages due one after the other, `apart` ms apart, the first in 200 ms. */
  const schedule = async (messages: number, apart: number) => {
    await producer.open(name).schedule(Array.from({ length: messages }, (_, n) => message(n, 200 + n * apart)));
    await producer.close();
  };
  const delivered = () => new Map(crew.flatMap((consumer) => [...consumer.lateness]));
  const until = async (messages: number) => {
    let resolve = () => {};
    const all = new Promise<void>((done) => (resolve = done));
    const look = () => {
      if (delivered().size >= messages) resolve();
    };
    for (const consumer of crew) consumer.onTaken(look);
    look();
    await all;
  };
  return { schedule, delivered, until };
}

function message(n: number, delay: number): NewMessage {
  return { id: `m${n}`, payload: Buffer.from("x"), due: { delay }, onDuplicate: "keep" };
}

describe.each([1, 10])("With room for %d", (room) => {
  it("50 or 10 consumers claim at most twice as often as one does for the same messages, net of polls", async () => {
    const claims: number[] = [];
    for (const count of [1, 10, 50]) {
      const { schedule, until, delivered } = await consumers(count, room);
      const before = crew.reduce((sum, consumer) => sum + consumer.claims, 0);
      await schedule(200, 10);
      await using stall = new StallWatch(() => redis.raw.command("PING"));
      await until(200);
      claims.push(crew.reduce((sum, consumer) => sum + consumer.claims, 0) - before);
      expect(Math.max(...delivered().values())).toBeLessThan(150 + stall.longest());
      await Promise.all(crew.map((consumer) => consumer.stop()));
    }
    const [one = 0, ten = 0, fifty = 0] = claims;
    expect(one).toBeGreaterThanOrEqual(200 / room);
    expect(ten).toBeLessThanOrEqual(2 * one);
    expect(fifty).toBeLessThanOrEqual(2 * one);
  }, 40_000);
});

/** A consumer as programs have it, in what could be a process of its own. */
interface Worker extends AsyncDisposable {
  /** Under which name Redis knows it. */
  name(): string;
  /** Nothing that it does arrives any more, and it hears nothing, though its connection stays. */
  freeze(): void;
  /** The same, and its connection is gone. */
  kill(): Promise<void>;
}

function worker(queue: string, onDelivered: (id: string, lateness: number) => void): Worker {
  const real = redisEngine({ url: redis.url });
  const { engine, stop } = stoppable(real);
  let name = "";
  const noting: Engine = {
    ...engine,
    open(...args) {
      const opened = engine.open(...args);
      return { ...opened, claim: (request) => opened.claim({ ...request, consumer: (name = request.consumer) }) };
    },
  };
  // What a killed one took is due again when its lease ends, and late only as of then.
  const consumer = new Queue<string>(queue, { engine: noting }).consume(
    (message) => onDelivered(message.id, message.lateness),
    { concurrency: 1, lease: "1s" },
  );
  return {
    name: () => name,
    freeze: stop,
    async kill() {
      stop();
      await real.close();
    },
    async [Symbol.asyncDispose]() {
      await consumer.close({ timeout: 0 });
      await real.close();
    },
  };
}

describe.each([
  ["is killed", (victim: Worker) => victim.kill()],
  ["hears but never acts, like a stopped process,", async (victim: Worker) => victim.freeze()],
])("When the one on duty %s", (_, strike) => {
  it("nothing is later than 150 ms, four times in a row", async () => {
    const name = `struck-${++queues}`;
    const lateness = new Map<string, number>();
    let look = () => {};
    const producer = new Queue<string>(name, { engine: closedAtEnd(redisEngine({ url: redis.url })) });
    const workers = Array.from({ length: 10 }, () =>
      closedAtEnd(
        worker(name, (id, late) => {
          lateness.set(id, Math.max(late, lateness.get(id) ?? 0));
          look();
        }),
      ),
    );
    await expect.poll(() => workers.every((one) => one.name() !== "")).toBe(true);
    const until = (count: number) =>
      new Promise<void>((resolve) => {
        look = () => lateness.size >= count && resolve();
        look();
      });
    const { state } = queueKeys("punctual", name);
    await producer.scheduleMany(
      Array.from({ length: 240 }, (__, n) => ({ payload: "x", id: `m${n}`, delay: 200 + n * 10 })),
    );
    await using stall = new StallWatch(() => redis.raw.command("PING"));
    for (const count of [40, 80, 120, 160]) {
      await until(count);
      let victim: (typeof workers)[number] | undefined;
      // For a moment nobody is, when the one that was has a message.
      await expect
        .poll(async () => {
          const onDuty = await redis.raw.text("HGET", state, "duty");
          victim = workers.find((one) => one.name() === onDuty);
          return victim;
        })
        .toBeDefined();
      if (victim !== undefined) await strike(victim);
    }
    await until(240);
    expect(Math.max(...lateness.values())).toBeLessThan(150 + stall.longest());
  }, 20_000);
});
