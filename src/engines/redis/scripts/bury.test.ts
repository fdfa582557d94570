import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import type { Burial } from "../../../engine.js";
import { decodeFailure } from "../message-format.js";
import { bury } from "./bury.js";
let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

const error = { name: "TypeError", message: "ü", stack: "at x" };
const dead = (id: string, reason: string, more: Partial<Burial> = {}): Burial => ({
  id,
  token: "t",
  leaseUntil: 0,
  reason,
  ...more,
});
const burying = (queue: RawQueue, ...burials: Burial[]) => bury(bench.evaluator, queue.keys, burials);

describe("bury", () => {
  it("moves messages to the dead letters with reason, error, last due time and the attempt counted", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    const lease = { until: now + 60_000, due: now - 100, token: "t", attempts: 5 };
    await queue.leased("a", lease);
    await queue.leased("b", lease);
    await queue.failed("b", 2, `{"name":"Old","message":""}`, 7);
    expect(await burying(queue, dead("a", "ungültig", { error }), dead("b", ""))).toEqual(["settled", "settled"]);
    const { a, b } = await queue.hash("failures");
    expect(decodeFailure(a!)).toMatchObject({ attempts: 1, dueAt: now - 100, reason: "ungültig", error });
    expect(decodeFailure(b!)).toMatchObject({
      attempts: 3,
      dueAt: now - 100,
      reason: "",
      errorAt: 7,
      error: { name: "Old" },
    });
    const times = await queue.scores("dead");
    expect(Object.keys(times)).toEqual(["a", "b"]);
    expect(times["a"]).toBeGreaterThanOrEqual(now);
    expect(times["a"]).toBeLessThanOrEqual(await bench.now());
    expect(await queue.fence()).toEqual({});
    expect(await queue.scores("leases")).toEqual({});
    expect(Object.keys(await queue.hash("messages"))).toEqual(["a", "b"]);
  });

  it("changes nothing without the token of the lease", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.leased("a", { until: now + 60_000, due: now, token: "t2", attempts: 5 });
    expect(await burying(queue, dead("a", "r"), dead("absent", "r"))).toEqual(["lease-lost", "lease-lost"]);
    expect(await queue.scores("dead")).toEqual({});
    expect(Object.keys(await queue.fence())).toEqual(["a"]);
  });

  it("cuts a reason that is longer than its length can tell", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.leased("a", { until: now + 60_000, due: now, token: "t", attempts: 5 });
    await burying(queue, dead("a", "€".repeat(70_000), { error }));
    expect(decodeFailure((await queue.hash("failures"))["a"]!)).toMatchObject({ reason: "€".repeat(16_000), error });
  });
});
