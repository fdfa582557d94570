import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import type { DueTime } from "../../../engine.js";
import { decodeMessage } from "../../../scripting/message-body.js";
import type { Evaluator } from "../../../scripting/script.js";
import { revive } from "./revive.js";
import { schedule } from "./schedule.js";

let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

let operations = 0;
const reviving = (
  queue: RawQueue,
  ids: readonly string[] | "all",
  due: DueTime = { at: 9e12 },
  evaluator: Evaluator = bench.evaluator,
) => revive(evaluator, queue.keys, ids, { due, operation: `revive${++operations}` });

async function buried(queue: RawQueue, id: string, at: number, body: Parameters<RawQueue["stored"]>[1] = {}) {
  await queue.stored(id, body);
  await queue.failed(id, 3, `{"name":"E","message":"m"}`, at);
  await bench.raw.command("ZADD", queue.keys.dead, at, id);
  // The sequence that the script counts goes on from here.
  await bench.raw.command("HINCRBY", queue.keys.state, "seq", 1);
}

const bodyOf = async (queue: RawQueue, id: string) => decodeMessage((await queue.hash("messages"))[id]!);

describe("revive", () => {
  it("brings the named dead letters back, attempts counted anew, and passes over what is none", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.scheduled("waits", 8e12);
    await queue.leased("leased", { until: now + 60_000, due: 1, token: "t", attempts: 1 });
    await buried(queue, "a", now - 5);
    await buried(queue, "b", now - 9);
    await buried(queue, "stays", now - 9);
    const others = ["waits", "leased", "stays"];
    const before = await Promise.all(others.map(async (id) => (await queue.hash("messages"))[id]));
    expect(await reviving(queue, ["b", "waits", "leased", "absent", "a", "b"])).toBe(2);
    expect(await queue.schedule()).toEqual([
      ["waits", 8e12],
      ["b", 9e12],
      ["a", 9e12],
    ]);
    expect(await queue.scores("dead")).toEqual({ stays: now - 9 });
    expect(Object.keys(await queue.hash("failures"))).toEqual(["stays"]);
    expect(await queue.scores("leases")).toEqual({ leased: now + 60_000 });
    expect((await bodyOf(queue, "a")).payload.toString()).toBe("a");
    expect(await Promise.all(others.map(async (id) => (await queue.hash("messages"))[id]))).toEqual(before);
  });

  it.each([
    {},
    { expiresAt: 5 },
    { attempts: 7, expiresAt: 5 },
    { headers: { a: "1" }, expiresAt: 5 },
    { attempts: 7, headers: { a: "1" }, expiresAt: 5 },
    { attempts: 7, headers: { a: "1" } },
  ])("drops the expiry of %o and keeps the rest", async (body) => {
    const queue = bench.queue();
    await buried(queue, "a", 5, body);
    const payload = Buffer.from([0, 255, 2]);
    await buried(queue, "binary", 5, { ...body, payload });
    expect(await reviving(queue, ["a", "binary"])).toBe(2);
    const { attempts, headers } = { attempts: undefined, headers: undefined, ...body };
    expect(await bodyOf(queue, "a")).toMatchObject({
      payload: Buffer.from("a"),
      attempts,
      headers,
      expiresAt: undefined,
    });
    expect((await bodyOf(queue, "binary")).payload).toEqual(payload);
  });

  it("takes a lease that has ended for a dead letter when it was the last attempt", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.leased("spent", { until: now - 1, due: 1, token: "t", attempts: 1 });
    await queue.leased("again", { until: now - 1, due: 1, token: "t", attempts: 2 });
    expect(await reviving(queue, ["spent", "again"])).toBe(1);
    expect(await queue.schedule()).toEqual([["spent", 9e12]]);
    expect(Object.keys(await queue.fence())).toEqual(["again"]);
    expect(Object.keys(await queue.scores("leases"))).toEqual(["again"]);
  });

  it("makes them the youngest of their due time", async () => {
    const queue = bench.queue();
    await buried(queue, "old", 5);
    await queue.scheduled("there", 9e12);
    await bench.raw.command("HSET", queue.keys.state, "seq", 2);
    await reviving(queue, ["old"]);
    expect(await queue.schedule()).toEqual([
      ["there", 9e12],
      ["old", 9e12],
    ]);
    expect((await queue.texts("state"))["seq"]).toBe("3");
  });

  it("takes a delay from the moment at which it runs, and tells the consumer on duty", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await bench.raw.command("HSET", queue.keys.state, "duty", "d", "dutyAt", now + 4_000);
    using ear = await bench.listen(queue, "d");
    await buried(queue, "a", 5);
    await buried(queue, "b", 5);
    await reviving(queue, ["a"], { delay: 60_000 });
    await reviving(queue, ["b"], { delay: 1_000 });
    const due = Object.fromEntries(await queue.schedule());
    expect(due["a"]).toBeGreaterThanOrEqual(now + 60_000);
    expect(due["a"]).toBeLessThanOrEqual((await bench.now()) + 60_001);
    expect(await ear.all(1)).toEqual([`w ${due["b"]}`]);
  });

  it("of all brings back 20,000, in the order of their burial, and nothing that is buried meanwhile", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    const count = 20_000;
    const ids = Array.from({ length: count }, (_, n) => `m${n}`);
    const messages = ids.map((id) => ({
      id,
      payload: Buffer.from(id),
      due: { at: 9e12 },
      onDuplicate: "keep" as const,
    }));
    await schedule(bench.evaluator, queue.keys, messages);
    await bench.raw.command("DEL", queue.keys.schedule);
    await bench.raw.command("ZADD", queue.keys.dead, ...ids.flatMap((id, n) => [now - 1 - n, id]));
    await queue.leased("spent", { until: now - 1, due: 1, token: "t", attempts: 1 });
    await queue.leased("again", { until: now - 1, due: 1, token: "t", attempts: 2 });
    let calls = 0;
    const revived = await reviving(
      queue,
      "all",
      { at: 9e12 },
      {
        clock: bench.evaluator.clock,
        async evaluate(...call) {
          const evaluation = await bench.evaluator.evaluate(...call);
          if (++calls > 1) await buried(queue, `late${calls}`, (await bench.now()) + 1);
          // Somebody takes one away, so that late ones would make up the number.
          else await bench.raw.command("ZREM", queue.keys.dead, "m0");
          return evaluation;
        },
      },
    );
    expect(revived).toBe(count);
    const order = (await queue.schedule()).map(([id]) => id);
    expect(order.slice(0, 3)).toEqual(["again", `m${count - 1}`, `m${count - 2}`]);
    expect(order).toHaveLength(count + 1);
    expect(Object.keys(await queue.scores("dead")).every((id) => id.startsWith("late"))).toBe(true);
  });

  it("of all does not go round in what is buried again in the same ms", async () => {
    const queue = bench.queue();
    for (let n = 0; n < 300; n++) await buried(queue, `m${n}`, 5);
    const revived = await reviving(
      queue,
      "all",
      { at: 9e12 },
      {
        clock: bench.evaluator.clock,
        async evaluate(...call) {
          const evaluation = await bench.evaluator.evaluate(...call);
          for (const [id] of await queue.schedule()) await bench.raw.command("ZADD", queue.keys.dead, 5, id);
          return evaluation;
        },
      },
    );
    expect(revived).toBe(300);
  });

  it("takes an entry without its message out of the index", async () => {
    const queue = bench.queue();
    await bench.raw.command("ZADD", queue.keys.dead, 5, "orphan");
    await buried(queue, "a", 6);
    expect(await reviving(queue, "all")).toBe(1);
    expect(await queue.schedule()).toEqual([["a", 9e12]]);
    expect(await queue.scores("dead")).toEqual({});
  });

  it.each(["named", "all"])("reads 7 payloads of 400,000 bytes in 4 calls (%s)", async (which) => {
    const queue = bench.queue();
    const payload = Buffer.alloc(400_000, 7);
    const ids = Array.from({ length: 7 }, (_, n) => `m${n}`);
    for (const id of ids) await buried(queue, id, 5, { payload, expiresAt: 5 });
    const seen: number[] = [];
    const counting: Evaluator = {
      clock: bench.evaluator.clock,
      async evaluate(...call) {
        if (call[0].name === "revive") seen.push(1);
        return await bench.evaluator.evaluate(...call);
      },
    };
    expect(await reviving(queue, which === "all" ? "all" : ids, { at: 9e12 }, counting)).toBe(7);
    expect(seen).toHaveLength(4);
    expect((await bodyOf(queue, "m6")).payload.equals(payload)).toBe(true);
  });

  it("goes on at the memory limit of Redis", async () => {
    const queue = bench.queue();
    await buried(queue, "a", 5);
    await buried(queue, "b", 5);
    await bench.raw.command("CONFIG", "SET", "maxmemory", 100_000);
    try {
      expect(await reviving(queue, ["a"])).toBe(1);
      expect(await reviving(queue, "all")).toBe(1);
    } finally {
      await bench.raw.command("CONFIG", "SET", "maxmemory", 0);
    }
  });

  it("changes nothing once the sequence numbers are used up", async () => {
    const queue = bench.queue();
    await buried(queue, "a", 5);
    await bench.raw.command("HSET", queue.keys.state, "seq", "9007199254740991");
    await expect(reviving(queue, ["a"])).rejects.toThrow("used up");
    expect(await queue.scores("dead")).toEqual({ a: 5 });
    expect(await queue.schedule()).toEqual([]);
  });
});
