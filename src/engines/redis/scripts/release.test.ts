import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import type { Release } from "../../../engine.js";
import { release } from "./release.js";
let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

const released = (id: string, delay?: number): Release => ({ id, token: "t", leaseUntil: 0, delay });
const releasing = (queue: RawQueue, ...releases: Release[]) => release(bench.evaluator, queue.keys, releases);

describe("release", () => {
  it("puts messages back into their old places, no attempt used", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    const lease = { until: now + 60_000, due: now - 100, token: "t", attempts: 1 };
    for (const id of ["z", "a"]) await queue.leased(id, lease);
    await queue.scheduled("m", now - 100);
    await queue.failed("z", 3, "{}", 7);
    const failures = await queue.hash("failures");
    expect(await releasing(queue, released("a"), released("z"))).toEqual(["settled", "settled"]);
    expect(await queue.schedule()).toEqual([
      ["z", now - 100],
      ["a", now - 100],
      ["m", now - 100],
    ]);
    expect(await queue.hash("failures")).toEqual(failures);
    expect(await queue.fence()).toEqual({});
    expect(await queue.scores("leases")).toEqual({});
    expect(await queue.scores("dead")).toEqual({});
  });

  it("or makes them due after a delay", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.leased("a", { until: now + 60_000, due: now - 100, token: "t", attempts: 5 });
    await queue.leased("b", { until: now + 60_000, due: now - 100, token: "t", attempts: 5 });
    await releasing(queue, released("a", 5_000), released("b", 0));
    const places = Object.fromEntries(await queue.schedule());
    expect(places["a"]).toBeGreaterThan(now + 5_000);
    expect(places["b"]).toBeGreaterThanOrEqual(now);
    expect(places["b"]).toBeLessThanOrEqual(await bench.now());
  });

  it("changes nothing without the token of the lease", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.leased("a", { until: now + 60_000, due: now, token: "t2", attempts: 5 });
    await queue.scheduled("waiting", now + 9_000);
    expect(await releasing(queue, released("a"), released("waiting"))).toEqual(["lease-lost", "lease-lost"]);
    expect(await queue.schedule()).toEqual([["waiting", now + 9_000]]);
    expect(Object.keys(await queue.fence())).toEqual(["a"]);
  });

  it("calls a consumer that waits, since what is given back is due", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await bench.raw.command("ZADD", queue.keys.waiting, now + 15_000, "w");
    using ear = await bench.listen(queue, "w");
    await queue.leased("a", { until: now + 60_000, due: now - 100, token: "t", attempts: 5 });
    await releasing(queue, released("a"));
    expect((await ear.all(1))[0]).toMatch(/^w \d+$/);
    expect((await queue.texts("state"))["duty"]).toBe("w");
  });
});
