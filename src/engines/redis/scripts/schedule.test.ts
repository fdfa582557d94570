import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import type { DueTime, NewMessage } from "../../../engine.js";
import { decodeMessage } from "../../../scripting/message-body.js";
import { schedule } from "./schedule.js";

let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

const message = (id: string, due: DueTime = { delay: 60_000 }, more: Partial<NewMessage> = {}): NewMessage => ({
  id,
  payload: Buffer.from(id),
  due,
  onDuplicate: "keep",
  ...more,
});
const scheduling = (queue: RawQueue, ...messages: NewMessage[]) => schedule(bench.evaluator, queue.keys, messages);
const payloads = async (queue: RawQueue) =>
  Object.fromEntries(
    Object.entries(await queue.hash("messages")).map(([id, value]) => [id, decodeMessage(value).payload.toString()]),
  );

describe("schedule stores", () => {
  it("new messages with their due times, numbered in their order", async () => {
    const queue = bench.queue();
    const at = (await bench.now()) + 60_000;
    const results = await scheduling(queue, message("b", { at }), message("a", { at }), message("c", { at: at - 1 }));
    expect(results).toEqual([
      { outcome: "scheduled", dueAt: at },
      { outcome: "scheduled", dueAt: at },
      { outcome: "scheduled", dueAt: at - 1 },
    ]);
    expect(await queue.schedule()).toEqual([
      ["c", at - 1],
      ["b", at],
      ["a", at],
    ]);
    const stored = await queue.hash("messages");
    expect(stored["b"]).toEqual(Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 0, 1, 0]), Buffer.from("b")]));
    expect(stored["c"]?.subarray(0, 7)).toEqual(Buffer.from([0, 0, 0, 0, 0, 0, 3]));
    expect(await queue.texts("state")).toMatchObject({ v: "1", seq: "3", biggest: "9" });
  });

  it("a delay from the moment at which it runs, rounded up", async () => {
    const queue = bench.queue();
    const before = await bench.now();
    const [whole, fraction] = await scheduling(queue, message("a", { delay: 1_000 }), message("b", { delay: 999.2 }));
    const after = await bench.now();
    expect(whole?.dueAt).toBeGreaterThan(before + 1_000);
    expect(whole?.dueAt).toBeLessThanOrEqual(after + 1_001);
    expect(Number.isInteger(fraction?.dueAt)).toBe(true);
    expect(fraction?.dueAt).toBeGreaterThanOrEqual(before + 1_000);
    expect(Object.fromEntries(await queue.schedule())).toEqual({ a: whole?.dueAt, b: fraction?.dueAt });
  });

  it("what is in the past as due now", async () => {
    const queue = bench.queue();
    const before = await bench.now();
    const dues: DueTime[] = [
      { delay: 0 },
      { delay: -1 },
      { delay: -1e15 },
      { at: 0 },
      { at: -5 },
      { at: before - 0.5 },
    ];
    const results = await scheduling(queue, ...dues.map((due, n) => message(`m${n}`, due)));
    const after = await bench.now();
    for (const { dueAt } of results) {
      expect(dueAt).toBeGreaterThanOrEqual(before);
      expect(dueAt).toBeLessThanOrEqual(after);
    }
  });

  it("times far away exactly, and none after the last of a Date", async () => {
    const queue = bench.queue();
    const ats = [2 ** 43 + 1, 8.64e15 - 1, 8.64e15, 8.7e15, 1e300];
    const results = await scheduling(queue, ...ats.map((at, n) => message(`m${n}`, { at })));
    const expected = [2 ** 43 + 1, 8.64e15 - 1, 8.64e15, 8.64e15, 8.64e15];
    expect(results.map(({ dueAt }) => dueAt)).toEqual(expected);
    expect((await queue.schedule()).map(([, due]) => due)).toEqual(expected);
  });

  it("payloads, ids, limits, headers as they are, and the time of expiry from the due time", async () => {
    const queue = bench.queue();
    const id = "é{}:\0 🙂";
    const payload = Uint8Array.from([0, 255, 13, 10]);
    const more = { payload, attempts: 3, expiresIn: 500, headers: { a: "ü" } };
    const [result] = await scheduling(
      queue,
      message(id, { delay: 1_000 }, more),
      message("", { at: 0 }, { id: "e", payload: Buffer.alloc(0) }),
    );
    const stored = await queue.hash("messages");
    expect(decodeMessage(stored[id]!)).toMatchObject({
      payload: Buffer.from(payload),
      attempts: 3,
      headers: { a: "ü" },
      expiresAt: (result?.dueAt ?? 0) + 500,
    });
    expect(decodeMessage(stored["e"]!).payload).toHaveLength(0);
  });

  it("any number, each call within 500 messages and 256 KiB, in order", async () => {
    const queue = bench.queue();
    const many = Array.from({ length: 1_250 }, (_, n) => message(`${(n * 7919) % 1_250}`, { at: 9e12 }));
    const large = Array.from({ length: 5 }, (_, n) =>
      message(`large${n}`, { at: 9e12 }, { payload: Buffer.alloc(700_000, n) }),
    );
    await bench.raw.command("CONFIG", "RESETSTAT");
    const results = await scheduling(queue, ...many, ...large);
    expect(results.every(({ outcome }) => outcome === "scheduled")).toBe(true);
    expect((await queue.schedule()).map(([id]) => id)).toEqual([...many, ...large].map(({ id }) => id));
    // Two of 500, one of the rest, five of one large one each; the first is refused with NOSCRIPT if it is the first ever.
    expect(await bench.raw.text("INFO", "commandstats")).toMatch(/cmdstat_evalsha:calls=[89],/);
  });

  it("and remembers the largest value, by which scripts know whether to ask for sizes", async () => {
    const queue = bench.queue();
    const biggest = async () => (await queue.texts("state"))["biggest"];
    await scheduling(queue, message("a"));
    expect(await biggest()).toBe("9");
    await scheduling(queue, message("b"), message("c", { at: 0 }, { payload: Buffer.alloc(5_000) }), message("d"));
    expect(await biggest()).toBe("5008");
    await scheduling(queue, message("e"));
    expect(await biggest()).toBe("5008");
  });

  it("nothing, without a call", async () => {
    expect(await scheduling(bench.queue())).toEqual([]);
  });
});

describe("schedule of an id that exists", () => {
  const seeded = async () => {
    const queue = bench.queue();
    const now = await bench.now();
    const lease = { due: now - 100, token: "t", attempts: 2 };
    await queue.scheduled("scheduled", now + 9_000);
    await queue.scheduled("due", now - 9);
    await queue.leased("leased", { ...lease, until: now + 60_000 });
    await queue.leased("ended", { ...lease, until: now - 1 });
    await queue.leased("spent", { ...lease, until: now - 1 });
    await queue.failed("spent", 1);
    await queue.stored("dead", {});
    await queue.failed("dead", 5, "{}", 1);
    await bench.raw.command("ZADD", queue.keys.dead, now - 7, "dead");
    await queue.failed("scheduled", 1);
    return { queue, now, ids: ["scheduled", "due", "leased", "ended", "spent", "dead"] };
  };
  const dump = async (queue: RawQueue) => ({
    schedule: await queue.schedule(),
    leases: await queue.scores("leases"),
    dead: await queue.scores("dead"),
    leased: await queue.hash("leased"),
    failures: await queue.hash("failures"),
    messages: await queue.hash("messages"),
    state: await queue.hash("state"),
  });

  it("keeps what is there, in every state, and tells its due time", async () => {
    const { queue, now, ids } = await seeded();
    const before = await dump(queue);
    const results = await scheduling(
      queue,
      ...ids.map((id) => message(id, { delay: 1 }, { payload: Buffer.from("x") })),
    );
    expect(results).toEqual(
      [now + 9_000, now - 9, now - 100, now - 100, now - 100, 0].map((dueAt) => ({ outcome: "duplicate", dueAt })),
    );
    expect(await dump(queue)).toEqual(before);
  });

  it("replaces what nobody works on, as a new message with its attempts counted anew", async () => {
    const { queue, now, ids } = await seeded();
    const at = now + 5_000;
    const replacement = { onDuplicate: "replace", payload: Buffer.from("new") } as const;
    const results = await scheduling(queue, ...ids.map((id) => message(id, { at }, replacement)));
    expect(results).toEqual([
      { outcome: "replaced", dueAt: at },
      { outcome: "replaced", dueAt: at },
      { outcome: "leased", dueAt: now - 100 },
      { outcome: "replaced", dueAt: at },
      { outcome: "replaced", dueAt: at },
      { outcome: "replaced", dueAt: at },
    ]);
    const rest = ["scheduled", "due", "ended", "spent", "dead"];
    expect(await queue.schedule()).toEqual(rest.map((id) => [id, at]));
    expect(await queue.scores("leases")).toEqual({ leased: now + 60_000 });
    expect(Object.keys(await queue.fence())).toEqual(["leased"]);
    expect(await queue.scores("dead")).toEqual({});
    expect(await queue.hash("failures")).toEqual({});
    expect(await payloads(queue)).toEqual({ ...Object.fromEntries(rest.map((id) => [id, "new"])), leased: "leased" });
  });

  it("stores anew what no index knows", async () => {
    const queue = bench.queue();
    await queue.stored("orphan", {});
    const [result] = await scheduling(queue, message("orphan", { at: 9e12 }));
    expect(result).toEqual({ outcome: "scheduled", dueAt: 9e12 });
    expect(await queue.schedule()).toEqual([["orphan", 9e12]]);
  });

  it("twice in one call behaves as one after the other", async () => {
    const queue = bench.queue();
    const results = await scheduling(
      queue,
      message("a", { at: 9e12 }, { payload: Buffer.from("1") }),
      message("a", { at: 9e12 + 1 }, { payload: Buffer.from("2") }),
      message("a", { at: 9e12 + 2 }, { payload: Buffer.from("3"), onDuplicate: "replace" }),
    );
    expect(results).toEqual([
      { outcome: "scheduled", dueAt: 9e12 },
      { outcome: "duplicate", dueAt: 9e12 },
      { outcome: "replaced", dueAt: 9e12 + 2 },
    ]);
    expect(await payloads(queue)).toEqual({ a: "3" });
    expect(await queue.schedule()).toEqual([["a", 9e12 + 2]]);
  });

  it("reads no more than 1 MiB of what is there in one call", async () => {
    const queue = bench.queue();
    const ids = Array.from({ length: 8 }, (_, n) => `m${n}`);
    for (const id of ids) await queue.scheduled(id, 9e12, { payload: Buffer.alloc(400_000) });
    await bench.raw.command("CONFIG", "RESETSTAT");
    const results = await scheduling(
      queue,
      ...ids.map((id) => message(id, { at: 0 }, { onDuplicate: "replace" })),
      message("new"),
    );
    expect(results.map(({ outcome }) => outcome)).toEqual([...ids.map(() => "replaced"), "scheduled"]);
    expect(await bench.raw.text("INFO", "commandstats")).toMatch(/cmdstat_evalsha:calls=4,/);
    expect(await queue.texts("state")).toMatchObject({ biggest: "400008" });
  });
});

describe("schedule wakes", () => {
  it("the consumer on duty, once, when something new is due before it looks", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await bench.raw.command("HSET", queue.keys.state, "duty", "d", "dutyAt", now + 4_000);
    using ear = await bench.listen(queue, "d");
    await scheduling(queue, message("far", { at: now + 4_000 }));
    await scheduling(queue, message("x", { at: now + 3_000 }), message("y", { at: now + 2_000 }));
    await scheduling(queue, message("y", { at: now + 1_000 }));
    expect(await ear.all(1)).toEqual([`w ${now + 2_000}`]);
    expect((await queue.texts("state"))["dutyAt"]).toBe(String(now + 2_000));
  });
});

describe("schedule refuses", () => {
  it("to go past the last sequence number", async () => {
    const queue = bench.queue();
    await bench.raw.command("HSET", queue.keys.state, "seq", "9007199254740990");
    await expect(scheduling(queue, message("a"), message("b"))).rejects.toThrow("used up");
    expect(await queue.schedule()).toEqual([]);
    expect(await queue.hash("messages")).toEqual({});
  });
});
