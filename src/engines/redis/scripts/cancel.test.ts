import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import { cancel } from "./cancel.js";
import { schedule } from "./schedule.js";
let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

const cancelling = (queue: RawQueue, ...ids: string[]) => cancel(bench.evaluator, queue.keys, ids);

describe("cancel", () => {
  it("removes what nobody works on, wherever it is, and leaves the rest", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    const lease = { due: now - 100, token: "t", attempts: 1 };
    await queue.scheduled("scheduled", now + 9_000);
    await queue.scheduled("due", now - 9);
    await queue.leased("leased", { ...lease, until: now + 60_000 });
    await queue.leased("ended", { ...lease, until: now - 1 });
    await queue.stored("dead", {});
    for (const id of ["dead", "due", "leased", "ended"]) await queue.failed(id, 1);
    await bench.raw.command("ZADD", queue.keys.dead, now - 7, "dead");
    await queue.scheduled("other", now + 1);
    const ids = ["dead", "absent", "ended", "leased", "due", "scheduled"];
    expect(await cancelling(queue, ...ids)).toEqual([
      "cancelled",
      "absent",
      "cancelled",
      "leased",
      "cancelled",
      "cancelled",
    ]);
    expect(await queue.schedule()).toEqual([["other", now + 1]]);
    expect(await queue.scores("leases")).toEqual({ leased: now + 60_000 });
    expect(Object.keys(await queue.fence())).toEqual(["leased"]);
    expect(await queue.scores("dead")).toEqual({});
    expect(Object.keys(await queue.hash("failures"))).toEqual(["leased"]);
    expect(Object.keys(await queue.hash("messages"))).toEqual(["leased", "other"]);
  });

  it("twice in one call finds it gone the second time", async () => {
    const queue = bench.queue();
    await queue.scheduled("a", 9e12);
    expect(await cancelling(queue, "a", "a")).toEqual(["cancelled", "absent"]);
  });

  it("removes 20,000 ids, each call within its budget of time", async () => {
    const queue = bench.queue();
    const ids = Array.from({ length: 20_000 }, (_, n) => `m${n}`);
    await schedule(
      bench.evaluator,
      queue.keys,
      ids.map((id) => ({ id, payload: Buffer.alloc(100), due: { at: 9e12 }, onDuplicate: "keep" })),
    );
    await bench.raw.command("CONFIG", "RESETSTAT");
    const answers = await cancelling(queue, ...ids);
    expect(answers).toHaveLength(20_000);
    expect(answers.every((answer) => answer === "cancelled")).toBe(true);
    expect(await queue.schedule()).toEqual([]);
    expect(await queue.hash("messages")).toEqual({});
    expect(await bench.raw.text("INFO", "commandstats")).toMatch(/cmdstat_evalsha:calls=8[01],/);
  });

  it("reads no more than 1 MiB in one call, one message at least", async () => {
    const queue = bench.queue();
    const ids = Array.from({ length: 30 }, (_, n) => `m${n}`);
    for (const id of ids) await queue.scheduled(id, 9e12, { payload: Buffer.alloc(400_000) });
    await bench.raw.command("CONFIG", "RESETSTAT");
    expect(await cancelling(queue, ...ids)).toEqual(ids.map(() => "cancelled"));
    expect(await bench.raw.text("INFO", "commandstats")).toMatch(/cmdstat_evalsha:calls=15,/);
  });
});
