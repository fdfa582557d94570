import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import type { DueTime } from "../../../engine.js";
import { decodeFailure } from "../message-format.js";
import { reschedule } from "./reschedule.js";
let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

const rescheduling = (queue: RawQueue, due: DueTime, ...ids: string[]) =>
  reschedule(
    bench.evaluator,
    queue.keys,
    ids.map((id) => ({ id, due })),
  );

describe("reschedule", () => {
  it("sets the due time of what waits, in its old place among equal ones, and answers for every state", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.scheduled("z", now + 9_000);
    await queue.scheduled("due", now - 9);
    await queue.scheduled("b", now + 5_000);
    await queue.leased("leased", { until: now + 60_000, due: now, token: "t", attempts: 1 });
    await queue.stored("dead", {});
    await queue.failed("dead", 1);
    await bench.raw.command("ZADD", queue.keys.dead, now - 7, "dead");
    const before = [
      await queue.hash("messages"),
      await queue.hash("failures"),
      await queue.fence(),
      await queue.scores("dead"),
    ];
    const answers = await rescheduling(queue, { at: now + 5_000 }, "due", "leased", "dead", "absent", "z");
    expect(answers).toEqual(["rescheduled", "leased", "dead", "absent", "rescheduled"]);
    expect(await queue.schedule()).toEqual(["z", "due", "b"].map((id) => [id, now + 5_000]));
    expect([
      await queue.hash("messages"),
      await queue.hash("failures"),
      await queue.fence(),
      await queue.scores("dead"),
    ]).toEqual(before);
  });

  it("takes delays from the moment at which it runs, and the past as now", async () => {
    const queue = bench.queue();
    const before = await bench.now();
    for (const id of ["delay", "now", "past"]) await queue.scheduled(id, 9e12);
    await rescheduling(queue, { delay: 1_000.5 }, "delay");
    await rescheduling(queue, { delay: -5 }, "now");
    await rescheduling(queue, { at: 5 }, "past");
    const after = await bench.now();
    const due = Object.fromEntries(await queue.schedule());
    expect(due["delay"]).toBeGreaterThan(before + 1_000);
    expect(due["delay"]).toBeLessThanOrEqual(after + 1_002);
    for (const id of ["now", "past"]) {
      expect(due[id]).toBeGreaterThanOrEqual(before);
      expect(due[id]).toBeLessThanOrEqual(after);
    }
  });

  it("reclaims a lease that has ended on the way: one attempt used, or buried when none is left", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.leased("again", { until: now - 1, due: now - 100, token: "t", attempts: 3 });
    await queue.leased("spent", { until: now - 2, due: now - 100, token: "t", attempts: 3 });
    await queue.failed("again", 1, `{"name":"E","message":"m"}`, 7);
    await queue.failed("spent", 2);
    expect(await rescheduling(queue, { at: 9e12 }, "again", "spent")).toEqual(["rescheduled", "dead"]);
    expect(await queue.schedule()).toEqual([["again", 9e12]]);
    expect(await queue.scores("dead")).toEqual({ spent: now - 2 });
    expect(await queue.scores("leases")).toEqual({});
    expect(await queue.fence()).toEqual({});
    const { again, spent } = await queue.hash("failures");
    expect(decodeFailure(again!)).toMatchObject({ attempts: 2, errorAt: 7, error: { name: "E", message: "m" } });
    expect(decodeFailure(spent!)).toMatchObject({ attempts: 3, dueAt: now - 100, reason: "attempts" });
  });

  it("tells the consumer on duty of what is due before it looks", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await bench.raw.command("HSET", queue.keys.state, "duty", "d", "dutyAt", now + 4_000);
    using ear = await bench.listen(queue, "d");
    await queue.scheduled("a", 9e12);
    await rescheduling(queue, { at: 8e12 }, "a");
    await rescheduling(queue, { at: now + 3_000 }, "a");
    expect(await ear.all(1)).toEqual([`w ${now + 3_000}`]);
  });

  it("does as many as it may read in one call, and goes on", async () => {
    const queue = bench.queue();
    const ids = Array.from({ length: 7 }, (_, n) => `m${n}`);
    for (const id of ids) await queue.scheduled(id, 9e12, { payload: Buffer.alloc(400_000) });
    expect(await rescheduling(queue, { at: 8e12 }, ...ids)).toEqual(ids.map(() => "rescheduled"));
    expect(await queue.schedule()).toEqual(ids.map((id) => [id, 8e12]));
  });
});
