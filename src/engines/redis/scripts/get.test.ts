import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import { bury } from "./bury.js";
import { counts } from "./counts.js";
import { get } from "./get.js";
let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

const getting = (queue: RawQueue, ...ids: string[]) => get(bench.evaluator, queue.keys, ids);

async function inEveryState(): Promise<{ queue: RawQueue; now: number }> {
  const queue = bench.queue();
  const now = await bench.now();
  const lease = { due: now - 100, token: "t", attempts: 2 };
  await queue.scheduled("scheduled", now + 60_000, { headers: { a: "1" }, attempts: 3 });
  await queue.scheduled("due", now - 9);
  await queue.failed("due", 1, `{"name":"E","message":"m","stack":"s"}`, 7);
  await queue.leased("leased", { ...lease, until: now + 60_000 });
  await queue.leased("ended", { ...lease, until: now - 1 });
  await queue.leased("spent", { ...lease, until: now - 2 });
  await queue.failed("spent", 1);
  await queue.leased("dead", { ...lease, until: now + 60_000 });
  await bury(bench.evaluator, queue.keys, [{ id: "dead", token: "t", leaseUntil: 0, reason: "broken" }]);
  return { queue, now };
}

describe("get", () => {
  it("reads a message in every state, an ended lease as reclaimed, and touches nothing", async () => {
    const { queue, now } = await inEveryState();
    const dump = async () => [
      await queue.schedule(),
      await queue.hash("leased"),
      await queue.hash("failures"),
      await queue.scores("dead"),
    ];
    const before = await dump();
    const common = (id: string) => ({ id, payload: Buffer.from(id) });
    const ids = ["absent", "scheduled", "due", "leased", "ended", "spent", "dead"];
    const buriedAt = (await queue.scores("dead"))["dead"];
    expect(await getting(queue, ...ids)).toEqual([
      undefined,
      { ...common("scheduled"), state: "scheduled", dueAt: now + 60_000, attempt: 0, headers: { a: "1" } },
      {
        ...common("due"),
        state: "due",
        dueAt: now - 9,
        attempt: 1,
        lastError: { name: "E", message: "m", stack: "s", at: 7 },
      },
      { ...common("leased"), state: "leased", dueAt: now - 100, attempt: 1, leaseUntil: now + 60_000 },
      { ...common("ended"), state: "due", dueAt: now - 1, attempt: 1 },
      {
        ...common("spent"),
        state: "dead",
        dueAt: now - 100,
        attempt: 2,
        buried: { reason: "attempts", at: now - 2 },
      },
      {
        ...common("dead"),
        state: "dead",
        dueAt: now - 100,
        attempt: 1,
        buried: { reason: "broken", at: buriedAt },
      },
    ]);
    expect(await dump()).toEqual(before);
  });

  it("gives a message twice that is asked for twice", async () => {
    const queue = bench.queue();
    await queue.scheduled("a", 9e12);
    expect((await getting(queue, "a", "b", "a")).map((message) => message?.id)).toEqual(["a", undefined, "a"]);
  });

  it("reads 30 payloads of 1 MiB, one in a call", async () => {
    const queue = bench.queue();
    const payload = Buffer.alloc(1 << 20, 7);
    const ids = Array.from({ length: 30 }, (_, n) => `m${n}`);
    for (const id of ids) await queue.scheduled(id, 9e12, { payload });
    await bench.raw.command("CONFIG", "RESETSTAT");
    const messages = await getting(queue, ...ids);
    expect(messages.map((message) => message?.id)).toEqual(ids);
    expect(messages.every((message) => payload.equals(message?.payload ?? Buffer.alloc(0)))).toBe(true);
    expect(await bench.raw.text("INFO", "commandstats")).toMatch(/cmdstat_evalsha:calls=30,/);
  });

  it("counts what is known of failures into its budget", async () => {
    const queue = bench.queue();
    const ids = Array.from({ length: 400 }, (_, n) => `m${n}`);
    for (const id of ids) {
      await queue.scheduled(id, 9e12);
      await queue.failed(id, 1, JSON.stringify({ name: "E", message: "x".repeat(4_000) }), 1);
    }
    await bench.raw.command("CONFIG", "RESETSTAT");
    expect((await getting(queue, ...ids)).map((message) => message?.lastError?.message.length)).toEqual(
      ids.map(() => 4_000),
    );
    expect(await bench.raw.text("INFO", "commandstats")).toMatch(/cmdstat_evalsha:calls=24,/);
  });
});

describe("counts", () => {
  it("counts each message in one state, ended leases as reclaimed", async () => {
    const { queue } = await inEveryState();
    const expected = { scheduled: 1, due: 2, leased: 1, dead: 2, paused: false };
    expect(await counts(bench.evaluator, queue.keys)).toEqual(expected);
    await bench.raw.command("HSET", queue.keys.state, "paused", 1);
    expect(await counts(bench.evaluator, queue.keys)).toEqual({ ...expected, paused: true });
  });

  it("finds nothing in a queue that nobody wrote to, and writes nothing", async () => {
    const queue = bench.queue();
    expect(await counts(bench.evaluator, queue.keys)).toEqual({
      scheduled: 0,
      due: 0,
      leased: 0,
      dead: 0,
      paused: false,
    });
    expect(await queue.hash("state")).toEqual({});
  });
});
