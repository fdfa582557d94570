import { beforeAll, describe, expect, it, vi } from "vitest";
import type { Engine, NewMessage } from "../../src/engine.js";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { queueKeys } from "../../src/engines/redis/keys.js";
import { Queue } from "../../src/index.js";
import { stoppable } from "../../src/testing/conformance/interposed-engine.js";
import { StallWatch } from "../support/stall-watch.js";
import { withRedis } from "../support/with-redis.js";
import { EngineConsumer } from "./engine-consumer.js";

/**
 * One on duty: what waiting consumers cost, and what happens when the one on duty does not come. Two measurements that mostly wait
 * share their time.
 */

const redis = withRedis();

let queues = 0;

/** How long something may take to come, ms. */
const patience = 15_000;

/** Consumers with a connection each, as processes have. */
async function consumers(count: number, room: number) {
  const name = `duty-${++queues}`;
  const crew = Array.from(
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
  const claims = () => crew.reduce((sum, consumer) => sum + consumer.claims, 0);
  const stop = () => Promise.all(crew.map((consumer) => consumer.stop()));
  return { schedule, delivered, until, claims, [Symbol.asyncDispose]: async () => void (await stop()) };
}

function message(n: number, delay: number): NewMessage {
  return { id: `m${n}`, payload: Buffer.from("x"), due: { delay }, onDuplicate: "keep" };
}

describe("One on duty:", () => {
  const rooms = [1, 10] as const;
  const measured = new Map<number, { readonly claims: readonly number[]; readonly late: readonly number[] }>();

  /** How often 1, 10 and 50 consumers claimed for the same messages, and how late these were, beyond what the machine was. */
  async function measure(room: number): Promise<void> {
    const claims: number[] = [];
    const late: number[] = [];
    for (const count of [1, 10, 50]) {
      await using crew = await consumers(count, room);
      const before = crew.claims();
      await crew.schedule(200, 10);
      await using stall = new StallWatch(() => redis.raw.command("PING"));
      await crew.until(200);
      claims.push(crew.claims() - before);
      late.push(Math.max(...crew.delivered().values()) - stall.longest());
    }
    measured.set(room, { claims, late });
  }
  beforeAll(() => Promise.all(rooms.map(measure)), 40_000);

  it.each(rooms)(
    "50 or 10 consumers claim at most twice as often as one does for the same messages, net of polls, with room for %d",
    (room) => {
      const { claims, late } = measured.get(room) ?? { claims: [], late: [] };
      const [one = 0, ten = Infinity, fifty = Infinity] = claims;
      expect(one).toBeGreaterThanOrEqual(200 / room);
      expect(ten).toBeLessThanOrEqual(2 * one);
      expect(fifty).toBeLessThanOrEqual(2 * one);
      expect(Math.max(...late)).toBeLessThan(150);
    },
  );
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

describe("When the one on duty", () => {
  const blows = [
    ["is killed", (victim: Worker) => victim.kill()],
    ["hears but never acts, like a stopped process,", async (victim: Worker) => victim.freeze()],
  ] as const;
  const latest = new Map<string, number>();

  /** How late the latest message was, beyond what the machine was, while the one on duty is struck four times. */
  async function measure([how, strike]: (typeof blows)[number]): Promise<void> {
    const name = `struck-${++queues}`;
    const lateness = new Map<string, number>();
    let look = () => {};
    await using producing = redisEngine({ url: redis.url });
    const producer = new Queue<string>(name, { engine: producing });
    const workers = Array.from({ length: 10 }, () =>
      worker(name, (id, late) => {
        lateness.set(id, Math.max(late, lateness.get(id) ?? 0));
        look();
      }),
    );
    const until = (count: number) =>
      new Promise<void>((resolve) => {
        look = () => lateness.size >= count && resolve();
        look();
      });
    const { state } = queueKeys("punctual", name);
    try {
      await vi.waitUntil(() => workers.every((one) => one.name() !== ""), patience);
      await producer.scheduleMany(
        Array.from({ length: 240 }, (__, n) => ({ payload: "x", id: `m${n}`, delay: 200 + n * 10 })),
      );
      await using stall = new StallWatch(() => redis.raw.command("PING"));
      for (const count of [40, 80, 120, 160]) {
        await until(count);
        // For a moment nobody is, when the one that was has a message.
        const victim = await vi.waitUntil(async () => {
          const onDuty = await redis.raw.text("HGET", state, "duty");
          return workers.find((one) => one.name() === onDuty);
        }, patience);
        await strike(victim);
      }
      await until(240);
      latest.set(how, Math.max(...lateness.values()) - stall.longest());
    } finally {
      await Promise.all(workers.map((one) => one[Symbol.asyncDispose]()));
    }
  }
  beforeAll(() => Promise.all(blows.map(measure)), 20_000);

  it.each(blows)("%s nothing is later than 150 ms, four times in a row", (how) => {
    expect(latest.get(how)).toBeLessThan(150);
  });
});
