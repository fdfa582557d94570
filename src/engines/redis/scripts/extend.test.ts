import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import type { Receipt } from "../../../engine.js";
import { extend } from "./extend.js";
let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

const receipt = (id: string, token = "t"): Receipt => ({ id, token, leaseUntil: 0 });
const extending = (queue: RawQueue, lease: number, ...receipts: Receipt[]) =>
  extend(bench.evaluator, queue.keys, receipts, lease);

describe("extend", () => {
  it("moves the deadline of what is held to now plus the lease, but of none that has ended", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.leased("a", { until: now + 20_000, due: now, token: "t", attempts: 5 });
    await queue.leased("ended", { until: now - 50, due: now, token: "t", attempts: 5 });
    await queue.leased("other", { until: now + 70, due: now, token: "t2", attempts: 5 });
    const fence = await queue.hash("leased");
    const [a, ended, other] = await extending(queue, 30_000, receipt("a"), receipt("ended"), receipt("other"));
    expect(other).toEqual({ outcome: "lease-lost" });
    expect(ended).toEqual({ outcome: "lease-lost" });
    const until = a?.outcome === "extended" ? a.leaseUntil : 0;
    expect(until).toBeGreaterThanOrEqual(now + 30_000);
    expect(until).toBeLessThanOrEqual((await bench.now()) + 30_000);
    expect(await queue.scores("leases")).toEqual({ a: until, ended: now - 50, other: now + 70 });
    expect(await queue.hash("leased")).toEqual(fence);
  });

  it("makes no lease of what is not leased", async () => {
    const queue = bench.queue();
    await queue.scheduled("waiting", 9e12);
    expect(await extending(queue, 30_000, receipt("waiting"), receipt("absent"))).toEqual([
      { outcome: "lease-lost" },
      { outcome: "lease-lost" },
    ]);
    expect(await queue.scores("leases")).toEqual({});
  });

  it("tells the consumer on duty of a deadline before it looks", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await bench.raw.command("HSET", queue.keys.state, "duty", "d", "dutyAt", now + 4_000);
    using ear = await bench.listen(queue, "d");
    await queue.leased("a", { until: now + 60_000, due: now, token: "t", attempts: 5 });
    await extending(queue, 30_000, receipt("a"));
    const [a] = await extending(queue, 1_000, receipt("a"));
    expect(await ear.all(1)).toEqual([`w ${a?.outcome === "extended" ? a.leaseUntil : 0}`]);
  });
});
