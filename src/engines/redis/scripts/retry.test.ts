import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import type { Retry } from "../../../engine.js";
import { decodeFailure } from "../message-format.js";
import { retry } from "./retry.js";
let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

const error = { name: "Error", message: "no connection" };
const failed = (id: string, delay: number, more: Partial<Retry> = {}): Retry => ({
  id,
  token: "t",
  leaseUntil: 0,
  delay,
  ...more,
});
const retrying = (queue: RawQueue, ...retries: Retry[]) => retry(bench.evaluator, queue.keys, retries);

describe("retry", () => {
  it("makes a message due after the delay, one attempt used, in its old place, with its error", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    const lease = { until: now + 60_000, due: now - 100, token: "t", attempts: 5 };
    await queue.leased("a", lease);
    await queue.leased("b", lease);
    await queue.failed("b", 2, `{"name":"Old","message":""}`, 7);
    expect(await retrying(queue, failed("b", 60_000), failed("a", 60_000, { error }))).toEqual(["settled", "settled"]);
    const after = await bench.now();
    const places = await queue.schedule();
    // The same ms, and `a` was scheduled first.
    expect(places.map(([id]) => id)).toEqual(["a", "b"]);
    for (const [, due] of places) {
      expect(due).toBeGreaterThan(now + 60_000);
      expect(due).toBeLessThanOrEqual(after + 60_001);
    }
    const { a, b } = await queue.hash("failures");
    expect(decodeFailure(a!)).toMatchObject({ attempts: 1, dueAt: 0, reason: "", error });
    expect(decodeFailure(a!).errorAt).toBeGreaterThanOrEqual(now);
    // Without an error the one before it stays.
    expect(decodeFailure(b!)).toMatchObject({ attempts: 3, errorAt: 7, error: { name: "Old", message: "" } });
    expect(await queue.fence()).toEqual({});
    expect(await queue.scores("leases")).toEqual({});
    expect(Object.keys(await queue.hash("messages"))).toEqual(["a", "b"]);
  });

  it("buries a message whose last attempt it was", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.leased("a", { until: now + 60_000, due: now - 100, token: "t", attempts: 3 });
    await queue.failed("a", 2);
    expect(await retrying(queue, failed("a", 0, { error }))).toEqual(["settled"]);
    expect(await queue.schedule()).toEqual([]);
    expect(await queue.scores("leases")).toEqual({});
    expect(await queue.fence()).toEqual({});
    expect((await queue.scores("dead"))["a"]).toBeGreaterThanOrEqual(now);
    expect(decodeFailure((await queue.hash("failures"))["a"]!)).toMatchObject({
      attempts: 3,
      dueAt: now - 100,
      reason: "attempts",
      error,
    });
    expect(Object.keys(await queue.hash("messages"))).toEqual(["a"]);
  });

  it("changes nothing without the token of the lease", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.leased("a", { until: now + 60_000, due: now, token: "t2", attempts: 5 });
    expect(await retrying(queue, failed("a", 0), failed("absent", 0))).toEqual(["lease-lost", "lease-lost"]);
    expect(await queue.schedule()).toEqual([]);
    expect(Object.keys(await queue.fence())).toEqual(["a"]);
    expect(await queue.hash("failures")).toEqual({});
  });

  it("tells the consumer on duty when that is before it looks", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await bench.raw.command("HSET", queue.keys.state, "duty", "d", "dutyAt", now + 4_000);
    using ear = await bench.listen(queue, "d");
    await queue.leased("a", { until: now + 60_000, due: now, token: "t", attempts: 5 });
    await retrying(queue, failed("a", 100));
    const [, due] = (await queue.schedule())[0] ?? [];
    expect(await ear.all(1)).toEqual([`w ${due}`]);
  });

  it("takes any number with errors of 4 KiB", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    const ids = Array.from({ length: 400 }, (_, n) => `m${n}`);
    for (const id of ids) await queue.leased(id, { until: now + 60_000, due: now, token: "t", attempts: 5 });
    const long = { name: "Error", message: "x".repeat(4_000) };
    await bench.raw.command("CONFIG", "RESETSTAT");
    const answers = await retrying(queue, ...ids.map((id) => failed(id, 0, { error: long })));
    expect(answers.every((answer) => answer === "settled")).toBe(true);
    expect(await bench.raw.text("INFO", "commandstats")).toMatch(/cmdstat_evalsha:calls=[78],/);
  });
});
