import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import type { NewMessage } from "../../../engine.js";
import type { Evaluator } from "../../../scripting/script.js";
import { purge } from "./purge.js";
import { reschedule } from "./reschedule.js";
import { schedule } from "./schedule.js";

let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

let operations = 0;
const purging = (queue: RawQueue, evaluator: Evaluator = bench.evaluator) =>
  purge(evaluator, queue.keys, "waiting", `purge${++operations}`);

const message = (id: string, at: number, payload = Buffer.from(id)): NewMessage => ({
  id,
  payload,
  due: { at },
  onDuplicate: "keep",
});
const scheduling = (queue: RawQueue, ...messages: NewMessage[]) => schedule(bench.evaluator, queue.keys, messages);

/** Does something after each call, before the next. */
const afterEach = (work: (call: number) => Promise<unknown>): Evaluator => {
  let calls = 0;
  return {
    clock: bench.evaluator.clock,
    async evaluate(...call) {
      const evaluation = await bench.evaluator.evaluate(...call);
      await work(++calls);
      return evaluation;
    },
  };
};

describe("purge of what waits", () => {
  it("deletes what is scheduled or due, ended leases among it, and leaves what is leased or dead", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.scheduled("scheduled", 8e12);
    await queue.failed("scheduled", 1);
    await queue.scheduled("due", now - 5);
    await queue.leased("leased", { until: now + 60_000, due: 1, token: "t", attempts: 2 });
    await queue.leased("again", { until: now - 1, due: 1, token: "t", attempts: 2 });
    await queue.leased("spent", { until: now - 1, due: 1, token: "t", attempts: 1 });
    await queue.stored("dead", {});
    await queue.failed("dead", 1);
    await bench.raw.command("ZADD", queue.keys.dead, now - 5, "dead");
    await bench.raw.command("HSET", queue.keys.state, "seq", 100, "rememberFor", 60_000);
    expect(await purging(queue)).toBe(3);
    expect(await queue.schedule()).toEqual([]);
    expect(Object.keys(await queue.hash("messages")).toSorted()).toEqual(["dead", "leased", "spent"]);
    expect(Object.keys(await queue.hash("failures")).toSorted()).toEqual(["dead", "spent"]);
    expect(await queue.scores("dead")).toEqual({ dead: now - 5, spent: now - 1 });
    expect(Object.keys(await queue.fence())).toEqual(["leased"]);
    expect(await bench.raw.text("ZRANGE", queue.keys.gone, 0, -1)).toEqual(["again", "due", "scheduled"]);
  });

  it("finds nothing in a queue that nobody wrote to, and writes nothing", async () => {
    const queue = bench.queue();
    expect(await purging(queue)).toBe(0);
    expect(await bench.raw.command("EXISTS", ...Object.values(queue.keys))).toBe(0);
  });

  it("leaves what is scheduled after it began, and does not look at it twice", async () => {
    const queue = bench.queue();
    await scheduling(queue, ...Array.from({ length: 2_000 }, (_, n) => message(`m${n}`, 8e12 + (n % 3))));
    let calls = 0;
    const purged = await purging(
      queue,
      afterEach(async (call) => {
        calls = call;
        // Before the walk, where it is, and behind it.
        await scheduling(queue, ...[7e12, 8e12 + 1, 9e12].map((at) => message(`late${call}-${at}`, at)));
      }),
    );
    expect(purged).toBe(2_000);
    expect(calls).toBeLessThanOrEqual(11);
    const left = (await queue.schedule()).map(([id]) => id);
    expect(left).toHaveLength(3 * calls);
    expect(left.every((id) => id.startsWith("late"))).toBe(true);
    expect(Object.keys(await queue.hash("messages"))).toHaveLength(3 * calls);
  });

  it("passes over younger messages that stand in front, among equal times too", async () => {
    const queue = bench.queue();
    await scheduling(queue, ...Array.from({ length: 600 }, (_, n) => message(`m${n}`, 9e12)));
    const purged = await purging(
      queue,
      afterEach(async (call) => {
        if (call > 1) return;
        await scheduling(queue, ...Array.from({ length: 900 }, (_, n) => message(`y${n}`, n < 450 ? 8e12 : 9e12)));
        // Keeps its number, so it comes before the younger ones of its time.
        await reschedule(bench.evaluator, queue.keys, [{ id: "m7", due: { at: 9e12 + 1 } }]);
        await scheduling(queue, message("last", 9e12 + 1));
      }),
    );
    expect(purged).toBe(600);
    expect((await queue.schedule()).map(([id]) => id)).toEqual([
      ...Array.from({ length: 900 }, (_, n) => `y${n}`),
      "last",
    ]);
  });

  it("deletes no more than waited when it began, whatever is given back meanwhile", async () => {
    const queue = bench.queue();
    await scheduling(queue, ...Array.from({ length: 300 }, (_, n) => message(`m${n}`, n < 3 ? 8e12 : 9e12)));
    const given = (await queue.schedule()).slice(3).map(([id]) => id);
    const members = (await bench.raw.command("ZRANGE", queue.keys.schedule, 3, -1)) as Buffer[];
    await bench.raw.command("ZREM", queue.keys.schedule, ...members);
    const back = () => bench.raw.command("ZADD", queue.keys.schedule, ...members.flatMap((member) => [9e12, member]));
    expect(
      await purging(
        queue,
        afterEach(async (call) => call === 1 && (await back())),
      ),
    ).toBe(3);
    expect((await queue.schedule()).map(([id]) => id)).toEqual(given);
  });

  it("takes entries without their message out of the index, and leaves the message that took the id", async () => {
    const queue = bench.queue();
    await scheduling(queue, message("a", 8e12), message("gone", 8e12));
    const stale = Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 0, 1]), Buffer.from("leased")]);
    await bench.raw.command("ZADD", queue.keys.schedule, 8e12, stale);
    await bench.raw.command("HDEL", queue.keys.messages, "gone");
    const until = (await bench.now()) + 60_000;
    await queue.stored("another", {});
    await queue.leased("leased", { until, due: 1, token: "t", attempts: 2 });
    expect(await purging(queue)).toBe(1);
    expect(await queue.schedule()).toEqual([]);
    expect(Object.keys(await queue.hash("messages")).toSorted()).toEqual(["another", "leased"]);
  });

  it("deletes 7 payloads of 400,000 bytes, at most two in a call", async () => {
    const queue = bench.queue();
    const payload = Buffer.alloc(400_000);
    await scheduling(queue, ...Array.from({ length: 7 }, (_, n) => message(`m${n}`, 8e12, payload)));
    let calls = 0;
    expect(
      await purging(
        queue,
        afterEach(async (call) => (calls = call)),
      ),
    ).toBe(7);
    // One says what there is.
    expect(calls).toBe(5);
    expect(await queue.hash("messages")).toEqual({});
  });

  it("reclaims 1,000 leases that have ended, 125 in a call, and deletes them", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await Promise.all(
      Array.from({ length: 1_000 }, (_, n) =>
        queue.leased(`m${n}`, { until: now - 1, due: 1, token: "t", attempts: 9 }),
      ),
    );
    await bench.raw.command("HSET", queue.keys.state, "seq", 1_000);
    expect(await purging(queue)).toBe(1_000);
    expect(await queue.fence()).toEqual({});
    expect(await queue.hash("messages")).toEqual({});
    expect(await queue.hash("failures")).toEqual({});
  });

  it("goes on at the memory limit of Redis", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await scheduling(queue, message("a", 8e12));
    await queue.leased("again", { until: now - 1, due: 1, token: "t", attempts: 9 });
    await bench.raw.command("CONFIG", "SET", "maxmemory", 100_000);
    try {
      expect(await purging(queue)).toBe(2);
      expect(await purging(queue)).toBe(0);
    } finally {
      await bench.raw.command("CONFIG", "SET", "maxmemory", 0);
    }
  });
});
