import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { NewMessage } from "../../src/engine.js";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { queueKeys } from "../../src/engines/redis/keys.js";
import { type RedisServer, startRedisServer } from "../../src/testing/redis-server.js";
import { type RawRedis, rawRedis } from "../support/raw-redis.js";
import { EngineConsumer } from "./engine-consumer.js";
import { StallWatch } from "./stall-watch.js";

/** One on duty: what waiting consumers cost, and what happens when the one on duty does not come. */

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
    (_, n) => new EngineConsumer(redisEngine({ url: server.url }), name, `consumer-${n}`, room),
  );
  for (const consumer of crew) await consumer.start();
  const producer = redisEngine({ url: server.url });
  /** Messages due one after the other, `apart` ms apart, the first in 200 ms. */
  const schedule = async (messages: number, apart: number) => {
    await producer.open(name).schedule(Array.from({ length: messages }, (_, n) => message(n, 200 + n * apart)));
    await producer.close();
  };
  const keys = queueKeys("punctual", name);
  const holder = async (part: "duty" | "deputy") => {
    const holding = await raw.text("HGET", keys.state, part);
    return crew.find((consumer) => consumer.name === holding);
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
  return { schedule, holder, delivered, until };
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
      await using stall = new StallWatch(() => raw.command("PING"));
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

describe.each([
  ["is killed", (consumer: EngineConsumer) => consumer.die()],
  ["hears but never acts, like a stopped process,", async (consumer: EngineConsumer) => consumer.freeze()],
])("When the one on duty %s", (_, strike) => {
  it("nothing is later than 150 ms, four times in a row", async () => {
    const { schedule, until, delivered, holder } = await consumers(10, 1);
    await schedule(240, 10);
    await using stall = new StallWatch(() => raw.command("PING"));
    for (const struck of [40, 80, 120, 160]) {
      await until(struck);
      const victim = await holder("duty");
      if (victim) await strike(victim);
    }
    await until(240);
    expect(Math.max(...delivered().values())).toBeLessThan(150 + stall.longest());
    expect(Math.min(...delivered().values())).toBeGreaterThanOrEqual(0);
  }, 20_000);
});
