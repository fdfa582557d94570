import { EventEmitter, once } from "node:events";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Engine, EngineQueue } from "../../src/engine.js";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { queueKeys } from "../../src/engines/redis/keys.js";
import { poll } from "../../src/waking/keys.js";
import { sources } from "../../src/engines/redis/scripts/sources.generated.js";
import { Queue } from "../../src/queue.js";
import { type RedisServer, startRedisServer } from "../../src/testing/redis-server.js";
import { type RawRedis, rawRedis } from "../support/raw-redis.js";

/** What a consumer of the Redis engine hears between its claims. */

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

const engines: Engine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

let queues = 0;
let tokens = 0;

function engine(): Engine {
  const made = redisEngine({ url: server.url });
  engines.push(made);
  return made;
}

async function watched() {
  const name = `watch-${++queues}`;
  const queue = engine().open(name);
  const heard: [string, unknown][] = [];
  const news = new EventEmitter();
  const note = (what: string) => (value?: unknown) => {
    heard.push([what, value]);
    news.emit("heard");
  };
  const watch = await queue.watch("c", {
    wake: note("wake"),
    postpone: note("postpone"),
    interrupted: note("interrupted"),
    recovered: note("recovered"),
  });
  const hears = async (what: string) => {
    for (;;) {
      const found = heard.find(([one]) => one === what);
      if (found) return found[1];
      await once(news, "heard");
    }
  };
  return { queue, other: engine().open(name), keys: queueKeys("punctual", name), watch, heard, hears };
}

const claim = (queue: EngineQueue, consumer = "c", limit = 10) =>
  queue.claim({ limit, lease: 60_000, consumer, token: `t${++tokens}`, attempts: 5 });
const message = (id: string, delay: number) => ({
  id,
  payload: Buffer.from(id),
  due: { delay },
  onDuplicate: "keep" as const,
});

describe("A consumer that waits", () => {
  it("is woken for a message that comes due before the time it was told, and not for a later one", async () => {
    const { queue, other, hears, heard } = await watched();
    const { nextAt } = await claim(queue);
    await other.schedule([message("later", 60_000)]);
    const [sooner] = await other.schedule([message("sooner", 100)]);
    expect(await hears("wake")).toBe(sooner!.dueAt);
    expect(sooner!.dueAt).toBeLessThan(nextAt);
    expect(heard).toHaveLength(1);
  });

  it("is put off by the one on duty, but never for longer than it may be silent", async () => {
    const { queue, other, keys, hears } = await watched();
    await claim(other, "on duty");
    const { now } = await claim(queue);
    // As if it had been planned for earlier.
    await raw.command("HSET", keys.state, "deputyAt", 1);
    await raw.command("PUBLISH", `${keys.channel}c`, "p 9000000000000");
    expect(await hears("postpone")).toBe(now + poll);
  });

  it("hears nothing of what it does not know", async () => {
    const { queue, keys, heard, hears } = await watched();
    await claim(queue);
    for (const text of ["? 0", "", "w", "w x", "later 5"]) await raw.command("PUBLISH", `${keys.channel}c`, text);
    await raw.command("PUBLISH", `${keys.channel}c`, "w 5");
    await hears("wake");
    expect(heard).toEqual([["wake", 5]]);
  });

  it("is told when its connection is lost and when there is another, and is woken on that one", async () => {
    const { queue, other, hears, heard } = await watched();
    await claim(queue);
    await other.counts();
    await raw.command("CLIENT", "KILL", "TYPE", "pubsub");
    expect(await hears("interrupted")).toMatchObject({ name: "PunctualError" });
    await hears("recovered");
    expect(heard.map(([what]) => what)).toEqual(["interrupted", "recovered"]);
    await claim(queue);
    const [{ dueAt } = { dueAt: 0 }] = await other.schedule([message("m", 50)]);
    expect(await hears("wake")).toBe(dueAt);
  });

  it("is off the books when its watch ends, and another takes its place", async () => {
    const { queue, other, keys, watch, heard } = await watched();
    await claim(queue);
    await watch[Symbol.asyncDispose]();
    await watch[Symbol.asyncDispose]();
    expect(await raw.text("HGET", keys.state, "duty")).toBe("");
    expect(await raw.text("HGET", keys.claims, "c")).toBeNull();
    expect(await raw.text("PUBSUB", "NUMSUB", `${keys.channel}c`)).toEqual([`${keys.channel}c`, 0]);
    await claim(other, "another");
    expect(await raw.text("HGET", keys.state, "duty")).toBe("another");
    // It has no watch, so it hears nothing, and nobody is on duty rather than one that does not know.
    await other.schedule([message("m", 50)]);
    expect(await raw.text("HGET", keys.state, "duty")).toBe("");
    expect(heard).toEqual([]);
  });
});

describe("While Redis is out of reach", () => {
  it("a watch begins and ends in a few seconds, and once Redis is there its channel is heard", async () => {
    const away = await startRedisServer();
    const own = redisEngine({ url: away.url });
    engines.push(own);
    await away.kill();
    const news = new EventEmitter();
    const woken = once(news, "wake");
    const silent = { wake() {}, postpone() {}, interrupted() {}, recovered() {} };
    const queue = own.open("away");
    const watch = await queue.watch("c", { ...silent, wake: (at) => news.emit("wake", at) });
    const unused = await queue.watch("unused", silent);
    await unused[Symbol.asyncDispose]();
    await away.restart();
    await claim(queue);
    const [{ dueAt } = { dueAt: 0 }] = await queue.schedule([message("m", 50)]);
    expect(await woken).toEqual([dueAt]);
    await watch[Symbol.asyncDispose]();
    await own.close();
    await away.stop();
  });
});

describe("Engines", () => {
  it("closed by the user end calls and watches with closed, and may be closed twice", async () => {
    const { queue, watch } = await watched();
    const own = engines[0]!;
    await own.close();
    await own.close();
    await expect(claim(queue)).rejects.toMatchObject({ code: "closed" });
    await expect(
      queue.watch("d", { wake() {}, postpone() {}, interrupted() {}, recovered() {} }),
    ).rejects.toMatchObject({
      code: "closed",
    });
    await watch[Symbol.asyncDispose]();
  });

  it("that are closed tell their consumers, which are closed at once, with a handler at work too", async () => {
    const own = engine();
    const queue = new Queue<string>(`watch-${++queues}`, { engine: own });
    const idle = queue.consume(() => {}, { concurrency: 1 });
    const started = new EventEmitter();
    const aborted = new Promise((resolve) => {
      const busy = new Queue<string>(queue.name, { engine: own }).consume(async ({ signal }) => {
        started.emit("started");
        await new Promise((over) => signal.addEventListener("abort", over));
        resolve([busy.health().state, signal.reason]);
      });
    });
    const running = once(started, "started");
    await Promise.all(["a", "b"].map((payload) => queue.schedule(payload, { delay: 100 })));
    await running;
    const at = performance.now();
    await own.close();
    expect(await aborted).toEqual(["closing", expect.objectContaining({ code: "closed" })]);
    await idle.close();
    expect([idle.health().state, performance.now() - at < 1_000]).toEqual(["closed", true]);
  });

  it("of other prefixes keep other messages", async () => {
    const [one, two] = ["one", "two"].map((prefix) => redisEngine({ url: server.url, prefix }));
    engines.push(one!, two!);
    await one!.open("q").schedule([message("m", 0)]);
    expect(await two!.open("q").counts()).toMatchObject({ due: 0, scheduled: 0 });
    expect(await one!.open("q").counts()).toMatchObject({ due: 1 });
  });

  it.each(["", "a:b", "a{b", "é", "-a", "x".repeat(65)])("refuse the prefix %j", (prefix) => {
    expect(() => redisEngine({ url: server.url, prefix })).toThrow(
      expect.objectContaining({ code: "invalid-argument" }),
    );
  });

  it("know the poll of the scripts", () => {
    expect(sources.claim).toContain(`local poll, lag, tries = ${poll},`);
  });
});
