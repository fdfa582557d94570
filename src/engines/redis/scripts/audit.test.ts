import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import { losingEvaluator } from "../../../../test/support/losing-evaluator.js";
import { scriptCalls } from "../../../../test/support/script-calls.js";
import { audit, repair } from "./audit.js";
import type { Mismatch } from "./audit-check.js";
import { claim } from "./claim.js";
import { counts } from "./counts.js";
import { get } from "./get.js";

let bench: ScriptBench;
let now: number;
beforeAll(async () => {
  bench = await ScriptBench.start();
  now = await bench.now();
});
afterAll(() => bench[Symbol.asyncDispose]());

const lease = { until: 9e12, due: 5, token: "t", attempts: 5 };
const run = (...command: (string | number | Buffer)[]) => bench.raw.command(...command);

/** A dead letter as it should be. */
async function dead(queue: RawQueue, id: string): Promise<void> {
  await queue.stored(id, {});
  await queue.failed(id, 1);
  await run("ZADD", queue.keys.dead, 7, id);
}

/** One message in each state, to which nothing may happen. */
async function sound(): Promise<RawQueue> {
  const queue = bench.queue();
  await queue.scheduled("scheduled", 9e12);
  await queue.scheduled("due", 1);
  await queue.leased("leased", lease);
  await queue.leased("ended", { ...lease, until: 1 });
  await dead(queue, "dead");
  await queue.failed("leased", 2);
  return queue;
}

const dump = async (queue: RawQueue) => ({
  schedule: await queue.schedule(),
  messages: await queue.hash("messages"),
  leases: await queue.scores("leases"),
  leased: await queue.hash("leased"),
  failures: await queue.hash("failures"),
  dead: await queue.scores("dead"),
});

const withoutX = (entries: object) =>
  Array.isArray(entries)
    ? entries.filter(([id]) => id !== "x")
    : Object.fromEntries(Object.entries(entries).filter(([id]) => id !== "x"));

const stale = (id: string) => Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 9, 9]), Buffer.from(id)]);

interface Planted {
  readonly kind: Mismatch;
  readonly plant: (queue: RawQueue) => Promise<unknown>;
  /** What is left of the message x; undefined when nothing is. */
  readonly after?: object;
}

const due = { state: "due", dueAt: expect.closeTo(Date.now(), -6), attempt: 0 };
const planted: Planted[] = [
  {
    kind: "schedule-without-message",
    plant: ({ keys }) => run("ZADD", keys.schedule, 5, stale("x")),
  },
  {
    kind: "schedule-stale",
    plant: async (queue) => {
      await queue.scheduled("x", 9e12);
      await run("ZADD", queue.keys.schedule, 5, stale("x"));
    },
    after: { state: "scheduled", dueAt: 9e12, attempt: 0 },
  },
  {
    kind: "message-without-index",
    plant: async (queue) => {
      await queue.stored("x", {});
      await queue.failed("x", 3);
    },
    after: { ...due, attempt: 3 },
  },
  {
    kind: "lease-without-message",
    plant: async (queue) => {
      await queue.leased("x", lease);
      await run("HDEL", queue.keys.messages, "x");
    },
  },
  {
    kind: "lease-without-fence",
    plant: async (queue) => {
      await queue.leased("x", lease);
      await queue.failed("x", 2);
      await run("HDEL", queue.keys.leased, "x");
    },
    after: { ...due, attempt: 3 },
  },
  {
    kind: "fence-without-lease",
    plant: async (queue) => {
      await queue.leased("x", lease);
      await run("ZREM", queue.keys.leases, "x");
    },
    after: { ...due, attempt: 1 },
  },
  {
    kind: "lease-stale",
    plant: async (queue) => {
      await queue.leased("x", lease);
      await queue.stored("x", {});
    },
    after: { state: "leased", dueAt: 5, leaseUntil: 9e12, attempt: 1 },
  },
  {
    kind: "dead-without-message",
    plant: ({ keys }) => run("ZADD", keys.dead, 5, "x"),
  },
  {
    kind: "dead-without-failure",
    plant: async (queue) => {
      await queue.stored("x", {});
      await run("ZADD", queue.keys.dead, 5, "x");
    },
    after: { state: "dead", dueAt: 5, attempt: 0, buried: { reason: "unknown", at: 5 } },
  },
  {
    kind: "failure-without-message",
    plant: (queue) => queue.failed("x", 1),
  },
  {
    kind: "message-in-two-indexes",
    plant: async (queue) => {
      await queue.scheduled("x", 9e12);
      await queue.failed("x", 1);
      await run("ZADD", queue.keys.dead, 5, "x");
    },
    after: { state: "scheduled", dueAt: 9e12, attempt: 1 },
  },
];

describe("audit", () => {
  it("finds nothing where there is nothing, and nothing in a queue with messages in all states", async () => {
    const queue = await sound();
    const before = await dump(queue);
    // Twice five messages and places, two entries of the fence, two records of failures.
    expect(await audit(bench.evaluator, queue.keys)).toEqual({ ok: true, problems: [], checked: 14 });
    expect(await repair(bench.evaluator, queue.keys)).toEqual({ ok: true, problems: [], checked: 14 });
    expect(await dump(queue)).toEqual(before);
    expect(await audit(bench.evaluator, bench.queue().keys)).toEqual({ ok: true, problems: [], checked: 0 });
  });

  it("is planted with every kind there is", async () => {
    const { mismatches } = await import("./audit-check.js");
    expect(planted.map(({ kind }) => kind).toSorted()).toEqual(Object.keys(mismatches).toSorted());
  });

  it.each(planted)("finds $kind; repair mends that and nothing else", async ({ kind, plant, after }) => {
    const queue = await sound();
    const whole = await dump(queue);
    await plant(queue);
    const before = await dump(queue);
    const found = { ok: false, problems: [{ kind, id: "x", detail: expect.stringMatching(/^[A-Z].*\.$/) }] };
    expect(await audit(bench.evaluator, queue.keys)).toMatchObject(found);
    expect(await dump(queue)).toEqual(before);

    expect(await repair(bench.evaluator, queue.keys)).toMatchObject(found);
    expect(await audit(bench.evaluator, queue.keys)).toMatchObject({ ok: true, problems: [] });
    const left = await get(bench.evaluator, queue.keys, ["x"]);
    expect(left).toMatchObject([after && { id: "x", payload: Buffer.from("x"), ...after }]);
    // The others are as they were, byte by byte.
    const others = Object.entries(await dump(queue)).map(([key, entries]) => [key, withoutX(entries)]);
    expect(Object.fromEntries(others)).toEqual(whole);
  });

  it("tells a lease that is held before a place in the schedule, and that before the dead letters", async () => {
    const queue = bench.queue();
    await queue.leased("x", lease);
    const value = (await queue.hash("messages"))["x"]!;
    await run("ZADD", queue.keys.schedule, 5, Buffer.concat([value.subarray(0, 7), Buffer.from("x")]));
    await run("ZADD", queue.keys.dead, 5, "x");
    expect((await repair(bench.evaluator, queue.keys)).problems).toMatchObject([{ kind: "message-in-two-indexes" }]);
    expect(await dump(queue)).toMatchObject({ schedule: [], leases: { x: 9e12 }, dead: {} });
  });

  it("ends half a lease without a second place where the message has one", async () => {
    const queue = bench.queue();
    await queue.scheduled("scheduled", 9e12);
    await dead(queue, "dead");
    await run("ZADD", queue.keys.leases, 9e12, "scheduled", 9e12, "dead");
    const { problems } = await repair(bench.evaluator, queue.keys);
    expect(problems).toMatchObject([{ kind: "lease-without-fence" }, { kind: "lease-without-fence" }]);
    expect(await dump(queue)).toMatchObject({ schedule: [["scheduled", 9e12]], leases: {}, dead: { dead: 7 } });
    expect(await audit(bench.evaluator, queue.keys)).toMatchObject({ ok: true });
  });

  it("tells two stale entries of one id apart, and mends both", async () => {
    const queue = bench.queue();
    await queue.scheduled("x", 9e12);
    const other = Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 9, 8]), Buffer.from("x")]);
    await run("ZADD", queue.keys.schedule, 5, stale("x"), 6, other);
    const { problems } = await repair(bench.evaluator, queue.keys);
    expect(problems).toMatchObject([
      { kind: "schedule-stale", id: "x" },
      { kind: "schedule-stale", id: "x" },
    ]);
    expect(await queue.schedule()).toEqual([["x", 9e12]]);
  });

  it("looks at all of 3,000 orphans and tells of 1,000; repair mends all", async () => {
    const queue = await sound();
    const ids = Array.from({ length: 3_000 }, (_, n) => `m${n}`);
    await run("HSET", queue.keys.messages, ...ids.flatMap((id) => [id, stale(`\0${id}`)]));
    const report = await audit(bench.evaluator, queue.keys);
    expect(report).toMatchObject({ ok: false, checked: 3_014 });
    expect(new Set(report.problems.map(({ id }) => id)).size).toBe(1_000);
    expect((await repair(bench.evaluator, queue.keys)).problems).toHaveLength(1_000);
    expect(await audit(bench.evaluator, queue.keys)).toEqual({ ok: true, problems: [], checked: 6_014 });
    expect(await counts(bench.evaluator, queue.keys)).toMatchObject({ scheduled: 1, due: 3_002, leased: 1, dead: 1 });
  });

  it("reads no more than about 1 MiB in one call, one message at least", async () => {
    const queue = bench.queue();
    const payload = Buffer.alloc(400_000);
    for (let n = 0; n < 150; n++) await queue.scheduled(`m${n}`, 9e12, { payload });
    await run("CONFIG", "RESETSTAT");
    expect(await audit(bench.evaluator, queue.keys)).toMatchObject({ ok: true, checked: 300 });
    // Two at a time: at least 75 calls for each of the schedule and the messages, and 75 pages of the latter.
    const calls = await scriptCalls(bench.raw);
    expect(calls).toBeGreaterThanOrEqual(3 * 75);
    expect(calls).toBeLessThan(3 * 150);
  });

  it("says that sizes differed when what made them differ was over before the walk came by", async () => {
    const queue = await sound();
    await run("ZADD", queue.keys.dead, 5, "x");
    const mending = {
      clock: bench.evaluator.clock,
      async evaluate(...[script, ...rest]: Parameters<typeof bench.evaluator.evaluate>) {
        const answer = await bench.evaluator.evaluate(script, ...rest);
        if (script.name === "audit-sizes") await run("ZREM", queue.keys.dead, "x");
        return answer;
      },
    };
    expect((await audit(mending, queue.keys)).problems).toEqual([
      { kind: "sizes-differ", id: "", detail: "There were 5 messages, but 6 entries in the indexes." },
    ]);
  });
});

describe("repair", () => {
  it("tells what it found also when replies are lost, and counts an attempt once", async () => {
    const queue = bench.queue();
    await queue.leased("x", lease);
    await run("HDEL", queue.keys.leased, "x");
    const { problems } = await repair(losingEvaluator(bench.evaluator), queue.keys);
    expect(problems).toMatchObject([{ kind: "lease-without-fence", id: "x" }]);
    expect(await get(bench.evaluator, queue.keys, ["x"])).toMatchObject([{ state: "due", attempt: 1 }]);
  });

  it("tells the one on duty of what is due now", async () => {
    const queue = bench.queue();
    const request = { consumer: "c", limit: 1, lease: 30_000, attempts: 5 };
    using ear = await bench.listen(queue, "c");
    await claim(bench.evaluator, queue.keys, { ...request, token: "t1", order: 1 });
    await queue.stored("x", {});
    await repair(bench.evaluator, queue.keys);
    expect(await ear.all(1)).toEqual([expect.stringMatching(/^w \d+$/)]);
    const { messages } = await claim(bench.evaluator, queue.keys, { ...request, token: "t2", order: 2 });
    expect(messages).toMatchObject([{ id: "x", attempt: 1 }]);
  });

  it("passes over what was mended between looking and mending", async () => {
    const queue = bench.queue();
    await queue.stored("x", {});
    const racing = {
      clock: bench.evaluator.clock,
      async evaluate(...[script, keys, args, ...rest]: Parameters<typeof bench.evaluator.evaluate>) {
        if (script.name === "audit-check" && typeof args !== "function" && args[1] === "1")
          await queue.leased("x", { ...lease, until: now + 9e6 });
        return await bench.evaluator.evaluate(script, keys, args, ...rest);
      },
    };
    expect((await repair(racing, queue.keys)).problems).toMatchObject([{ kind: "message-without-index" }]);
    expect(await dump(queue)).toMatchObject({ schedule: [], leases: { x: now + 9e6 } });
  });
});
