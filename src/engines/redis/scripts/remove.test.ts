import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import { purge } from "./purge.js";
import { remove } from "./remove.js";

let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

let operations = 0;
const removing = (queue: RawQueue, ...ids: string[]) =>
  remove(bench.evaluator, queue.keys, ids, `remove${++operations}`);
const purging = (queue: RawQueue) => purge(bench.evaluator, queue.keys, "dead", `purge${++operations}`);

async function buried(queue: RawQueue, id: string, at: number, payload = Buffer.from(id)) {
  await queue.stored(id, { payload });
  await queue.failed(id, 3);
  await bench.raw.command("ZADD", queue.keys.dead, at, id);
}

async function mixed(): Promise<{ queue: RawQueue; now: number }> {
  const queue = bench.queue();
  const now = await bench.now();
  await queue.scheduled("waits", 8e12);
  await queue.failed("waits", 1);
  await queue.leased("leased", { until: now + 60_000, due: 1, token: "t", attempts: 1 });
  await queue.leased("spent", { until: now - 1, due: 1, token: "t", attempts: 1 });
  await queue.leased("again", { until: now - 1, due: 1, token: "t", attempts: 2 });
  for (const id of ["a", "b"]) await buried(queue, id, now - 5);
  return { queue, now };
}

describe("remove", () => {
  it("deletes the named dead letters, and passes over what is none", async () => {
    const { queue, now } = await mixed();
    expect(await removing(queue, "b", "waits", "leased", "spent", "again", "absent", "b")).toBe(2);
    expect(await queue.scores("dead")).toEqual({ a: now - 5 });
    expect(Object.keys(await queue.hash("messages")).toSorted()).toEqual(["a", "again", "leased", "waits"]);
    expect(Object.keys(await queue.hash("failures")).toSorted()).toEqual(["a", "waits"]);
    expect(await queue.scores("leases")).toEqual({ again: now - 1, leased: now + 60_000 });
    expect(Object.keys(await queue.fence()).toSorted()).toEqual(["again", "leased"]);
    expect(await queue.schedule()).toEqual([["waits", 8e12]]);
  });

  it("remembers ids while the queue asks for it", async () => {
    const { queue, now } = await mixed();
    await bench.raw.command("HSET", queue.keys.state, "rememberFor", 60_000);
    await removing(queue, "a", "waits");
    const [id, until] = (await bench.raw.text("ZRANGE", queue.keys.gone, 0, -1, "WITHSCORES")) as string[];
    expect(id).toBe("a");
    expect(Number(until)).toBeGreaterThanOrEqual(now + 60_000);
  });

  it("deletes 30 payloads of 1 MiB, one in a call", async () => {
    const queue = bench.queue();
    const ids = Array.from({ length: 30 }, (_, n) => `m${n}`);
    for (const id of ids) await buried(queue, id, 5, Buffer.alloc(1 << 20));
    await bench.raw.command("CONFIG", "RESETSTAT");
    expect(await removing(queue, ...ids)).toBe(30);
    expect(await bench.raw.text("INFO", "commandstats")).toMatch(/cmdstat_evalsha:calls=30,/);
    expect(await queue.hash("messages")).toEqual({});
  });

  it("deletes 2,000 in one call", async () => {
    const queue = bench.queue();
    const ids = Array.from({ length: 2_000 }, (_, n) => `m${n}`);
    await Promise.all(ids.map((id) => buried(queue, id, 5)));
    expect(await removing(queue, ...ids, "absent", ...ids)).toBe(2_000);
    expect(await queue.hash("messages")).toEqual({});
  });

  it("goes on at the memory limit of Redis", async () => {
    const { queue } = await mixed();
    await bench.raw.command("CONFIG", "SET", "maxmemory", 100_000);
    try {
      expect(await removing(queue, "absent", "a", "spent")).toBe(2);
      expect(await purging(queue)).toBe(1);
    } finally {
      await bench.raw.command("CONFIG", "SET", "maxmemory", 0);
    }
  });
});

describe("purge of what is dead", () => {
  it("deletes all dead letters, those with an ended lease among them, and nothing else", async () => {
    const { queue, now } = await mixed();
    await bench.raw.command("ZADD", queue.keys.dead, 5, "orphan");
    expect(await purging(queue)).toBe(3);
    expect(await queue.scores("dead")).toEqual({});
    expect(await queue.schedule()).toEqual([
      ["again", now - 1],
      ["waits", 8e12],
    ]);
    expect(Object.keys(await queue.hash("messages")).toSorted()).toEqual(["again", "leased", "waits"]);
    expect(Object.keys(await queue.fence())).toEqual(["leased"]);
  });

  it("leaves what is buried after it began", async () => {
    const queue = bench.queue();
    await Promise.all(Array.from({ length: 1_000 }, (_, n) => buried(queue, `m${n}`, 5)));
    let calls = 0;
    const slow: typeof bench.evaluator = {
      clock: bench.evaluator.clock,
      async evaluate(...call) {
        const evaluation = await bench.evaluator.evaluate(...call);
        await buried(queue, `late${++calls}`, (await bench.now()) + 1);
        return evaluation;
      },
    };
    expect(await purge(slow, queue.keys, "dead", "slow")).toBe(1_000);
    expect(Object.keys(await queue.scores("dead"))).toHaveLength(calls);
  });
});
