import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ear, type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import { claim } from "./claim.js";
import { leave } from "../../../waking/leave.js";
import { pause } from "./pause.js";
import { resume } from "./resume.js";

/** Who is on duty, who is the deputy, who waits: what claim, leave and resume make of it. */

let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

let tokens = 0;
let order = 0;

/** A queue with consumers that listen; the first to claim is on duty, the second the deputy, the others wait. */
async function crew(names: readonly string[], place?: (queue: RawQueue, now: number) => Promise<void>) {
  const queue = bench.queue();
  await place?.(queue, await bench.now());
  const ears = new Map<string, Ear>();
  for (const name of names) ears.set(name, await bench.listen(queue, name));
  const claims = async (consumer: string, request: { limit?: number; lease?: number } = {}) => {
    const result = await claim(bench.evaluator, queue.keys, {
      consumer,
      token: `t${++tokens}`,
      limit: 10,
      lease: 30_000,
      attempts: 5,
      order: ++order,
      ...request,
    });
    return { ...result, now: Math.floor(result.now) };
  };
  for (const name of names) await claims(name);
  const heard = async (name: string, count = 0) => {
    const all = await ears.get(name)!.all(count);
    return all.filter((text) => text !== "? 0");
  };
  const books = async () => {
    const { duty, dutyAt, deputy, deputyAt } = await queue.texts("state");
    const waiting = Object.keys(await queue.scores("waiting"));
    return { duty, dutyAt: Number(dutyAt), deputy, deputyAt: Number(deputyAt), waiting };
  };
  const dies = async (name: string) => ears.get(name)!.leave(queue.keys.channel + name);
  /** Moves a planned time, as if time had passed. */
  const plan = (field: "dutyAt" | "deputyAt", at: number) => bench.raw.command("HSET", queue.keys.state, field, at);
  return { queue, claims, heard, books, dies, plan };
}

describe("Of consumers with room", () => {
  it("the first is on duty, the second its deputy 50 ms behind, the others wait and poll", async () => {
    const { claims, books } = await crew(["a", "b", "c", "d"]);
    expect(await books()).toMatchObject({ duty: "a", deputy: "b", waiting: ["c", "d"] });
    const c = await claims("c");
    expect(c.nextAt).toBe(c.now + 5_000);
    const b = await claims("b");
    expect(b.nextAt).toBe(b.now + 5_050);
    const a = await claims("a");
    expect(a.nextAt).toBe(a.now + 5_000);
    expect(await books()).toMatchObject({ dutyAt: a.nextAt, deputyAt: a.nextAt + 50 });
  });

  it("the one on duty comes for the next due message, or the next end of a lease, whichever is earlier", async () => {
    const { claims, queue } = await crew(["a", "b"]);
    const now = await bench.now();
    await queue.scheduled("m", now + 3_000);
    expect((await claims("a")).nextAt).toBe(now + 3_000);
    await queue.leased("l", { until: now + 2_000, due: 1, token: "t", attempts: 5 });
    expect((await claims("a")).nextAt).toBe(now + 2_000);
    expect((await claims("b")).nextAt).toBe(now + 2_050);
  });

  it("the deputy is put off by each claim of the one on duty, and so need not claim", async () => {
    const { claims, heard, plan } = await crew(["a", "b"]);
    await plan("deputyAt", await bench.now());
    const a = await claims("a");
    expect(await heard("b", 1)).toContain(`p ${a.nextAt + 50}`);
  });

  it("whoever claims takes over a duty that is 50 ms overdue, and finds itself another deputy", async () => {
    const { claims, books, plan, heard } = await crew(["a", "b", "c"]);
    await plan("dutyAt", (await bench.now()) - 50);
    const b = await claims("b");
    expect(await books()).toEqual({
      duty: "b",
      dutyAt: b.nextAt,
      deputy: "c",
      deputyAt: b.nextAt + 50,
      waiting: [],
    });
    expect(await heard("c", 1)).toEqual([`w ${b.nextAt + 50}`]);
    await claims("a");
    expect(await books()).toMatchObject({ duty: "b", deputy: "c", waiting: ["a"] });
  });

  it("a deputy that was silent for longer than a poll is replaced, though it is still heard", async () => {
    const { queue, claims, books } = await crew(["a", "b", "c"]);
    await bench.raw.command("HSET", queue.keys.state, "deputySeen", (await bench.now()) - 6_001);
    await claims("a");
    expect(await books()).toMatchObject({ duty: "a", deputy: "c", waiting: [] });
  });

  it("one that waits is not called after it was silent for longer than a poll", async () => {
    const { queue, claims, books } = await crew(["a", "b", "c"]);
    const { now } = await claims("c");
    expect(await queue.scores("waiting")).toEqual({ c: now + 6_000 });
    await bench.raw.command("ZADD", queue.keys.waiting, (await bench.now()) - 1, "c");
    await leave(bench.evaluator, queue.keys, "b");
    await claims("a");
    expect(await books()).toMatchObject({ duty: "a", deputy: "" });
  });

  it("nobody takes over a duty that is less than 50 ms overdue", async () => {
    const { claims, books, plan } = await crew(["a", "b"]);
    // Far enough from the limit for a slow test.
    await plan("dutyAt", (await bench.now()) + 1_000);
    await claims("b");
    expect(await books()).toMatchObject({ duty: "a", deputy: "b" });
  });

  it("a newcomer takes the place of those who were killed", async () => {
    const { claims, books, dies } = await crew(["a", "b"]);
    await dies("a");
    await dies("b");
    await claims("new");
    expect(await books()).toMatchObject({ duty: "new", deputy: "" });
  });

  it("one that stopped at bytes, not for want of room, goes on at once and stays on duty", async () => {
    const { queue, claims, books, heard } = await crew(["a", "b"]);
    const now = await bench.now();
    for (const id of ["x", "y"]) await queue.scheduled(id, now - 1, { payload: Buffer.alloc(800 << 10) });
    const a = await claims("a");
    expect(a.messages).toHaveLength(1);
    expect(a.nextAt).toBeLessThanOrEqual(a.now);
    expect(await books()).toMatchObject({ duty: "a", dutyAt: a.now, deputy: "b", deputyAt: a.now + 50 });
    expect((await heard("b", 1)).at(-1)).toBe(`w ${a.now + 50}`);
  });
});

describe("A claim that stops at bytes, not for want of room,", () => {
  it.each(["b", "c"])("brings %s again at once, though it is not on duty", async (name) => {
    const { queue, claims, books } = await crew(["a", "b", "c"]);
    const now = await bench.now();
    for (const id of ["x", "y"]) await queue.scheduled(id, now - 1, { payload: Buffer.alloc(800 << 10) });
    const result = await claims(name);
    expect(result.messages).toHaveLength(1);
    expect(result.nextAt).toBeLessThanOrEqual(result.now);
    expect(await books()).toMatchObject({ duty: "a", dutyAt: result.now, deputy: "b" });
  });
});

describe("A claim that fills its caller", () => {
  it("hands the duty to the deputy, and the deputy's part to the one that came to wait last", async () => {
    const { queue, claims, books, heard } = await crew(["a", "b", "c", "d"]);
    const now = await bench.now();
    await queue.scheduled("m", now - 1);
    await queue.scheduled("next", now + 3_000);
    const a = await claims("a", { limit: 1 });
    expect(a.messages).toHaveLength(1);
    expect(a.nextAt).toBeLessThanOrEqual(a.now);
    expect(await books()).toEqual({
      duty: "b",
      dutyAt: now + 3_000,
      deputy: "d",
      deputyAt: now + 3_050,
      waiting: ["c"],
    });
    expect((await heard("b", 1)).at(-1)).toBe(`w ${now + 3_000}`);
    expect(await heard("d", 1)).toEqual([`w ${now + 3_050}`]);
    expect(await heard("c")).toEqual([]);
  });

  it("wakes the next one at once while more is due", async () => {
    const { queue, claims, heard } = await crew(["a", "b"]);
    const now = await bench.now();
    await queue.scheduled("m", now - 2);
    await queue.scheduled("n", now - 1);
    const a = await claims("a", { limit: 1 });
    expect((await heard("b", 1)).at(-1)).toBe(`w ${a.now}`);
  });

  it("passes over those that nobody hears any more, and takes them off the books", async () => {
    const { claims, books, dies } = await crew(["a", "b", "c", "d"]);
    await dies("b");
    await dies("d");
    await claims("a", { limit: 0 });
    expect(await books()).toMatchObject({ duty: "c", deputy: "", waiting: [] });
  });

  it("leaves nobody on duty when nobody else has room, and the next that has room is on duty", async () => {
    const { claims, books } = await crew(["a"]);
    await claims("a", { limit: 0 });
    expect(await books()).toMatchObject({ duty: "", deputy: "", waiting: [] });
    await claims("a");
    expect(await books()).toMatchObject({ duty: "a" });
  });

  it("gives leases that the one on duty hears of when they end before it looks", async () => {
    const { queue, claims, books, heard } = await crew(["a", "b", "c"]);
    await queue.scheduled("m", (await bench.now()) - 1);
    const c = await claims("c", { limit: 1, lease: 1_000 });
    expect((await heard("a", 1)).at(-1)).toBe(`w ${c.leaseUntil}`);
    expect(await books()).toMatchObject({ duty: "a", dutyAt: c.leaseUntil, deputy: "b", deputyAt: c.leaseUntil + 50 });
  });
});

describe("A consumer that leaves", () => {
  it("hands on its duty with the planned time, and is forgotten", async () => {
    const { queue, books, heard } = await crew(["a", "b", "c"]);
    const { dutyAt } = await books();
    await leave(bench.evaluator, queue.keys, "a");
    expect(await books()).toMatchObject({ duty: "b", dutyAt, deputy: "c", waiting: [] });
    expect((await heard("b", 1)).at(-1)).toBe(`w ${dutyAt}`);
    expect(Object.keys(await queue.texts("claims")).toSorted()).toEqual(["b", "c"]);
  });

  it("hands on its part as deputy", async () => {
    const { queue, books } = await crew(["a", "b", "c"]);
    await leave(bench.evaluator, queue.keys, "b");
    expect(await books()).toMatchObject({ duty: "a", deputy: "c", waiting: [] });
  });

  it("no longer waits, and may leave twice", async () => {
    const { queue, books } = await crew(["a", "b", "c"]);
    await leave(bench.evaluator, queue.keys, "c");
    await leave(bench.evaluator, queue.keys, "c");
    expect(await books()).toMatchObject({ duty: "a", deputy: "b", waiting: [] });
  });
});

describe("resume", () => {
  it("wakes the one on duty for what came due during the pause, and pause and resume twice are once", async () => {
    const { queue, claims, heard, books } = await crew(["a", "b"]);
    await pause(bench.evaluator, queue.keys);
    await pause(bench.evaluator, queue.keys);
    expect((await queue.texts("state"))["paused"]).toBe("1");
    await queue.scheduled("m", (await bench.now()) - 1_000);
    const paused = await claims("a");
    expect(paused.messages).toEqual([]);
    expect(paused.nextAt).toBe(paused.now + 5_000);
    await resume(bench.evaluator, queue.keys);
    await resume(bench.evaluator, queue.keys);
    const told = (await heard("a", 1)).filter((text) => text.startsWith("w "));
    expect(told).toHaveLength(1);
    expect((await books()).dutyAt).toBe(Number(told[0]!.slice(2)));
    expect((await queue.texts("state"))["paused"]).toBeUndefined();
    expect((await claims("a")).messages).toHaveLength(1);
  });

  it("tells the one on duty nothing when its planned time is early enough", async () => {
    const { queue, heard } = await crew(["a"]);
    await pause(bench.evaluator, queue.keys);
    await queue.scheduled("m", (await bench.now()) + 3_600_000);
    await resume(bench.evaluator, queue.keys);
    expect(await heard("a")).toEqual([]);
  });
});

describe("At the memory limit", () => {
  it("pause, resume and leave go on", async () => {
    const { queue, books } = await crew(["a", "b"]);
    await bench.raw.command("CONFIG", "SET", "maxmemory", 1);
    try {
      await pause(bench.evaluator, queue.keys);
      await resume(bench.evaluator, queue.keys);
      await leave(bench.evaluator, queue.keys, "a");
    } finally {
      await bench.raw.command("CONFIG", "SET", "maxmemory", 0);
    }
    expect(await books()).toMatchObject({ duty: "b" });
  });
});
