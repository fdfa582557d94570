import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import type { Receipt } from "../../../engine.js";
import { acknowledge } from "./acknowledge.js";
let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

const receipt = (id: string, token = "t"): Receipt => ({ id, token, leaseUntil: 0 });
const acknowledging = (queue: RawQueue, ...receipts: Receipt[]) => acknowledge(bench.evaluator, queue.keys, receipts);

describe("acknowledge", () => {
  it("deletes what is held, with all that is known of it, and nothing else", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    const lease = { until: now + 60_000, due: now, token: "t", attempts: 5 };
    for (const id of ["a", "b", "other"]) await queue.leased(id, lease);
    await queue.failed("a", 1);
    await queue.failed("other", 1);
    await queue.scheduled("waiting", now);
    expect(await acknowledging(queue, receipt("a"), receipt("b"))).toEqual(["settled", "settled"]);
    expect(Object.keys(await queue.hash("messages"))).toEqual(["other", "waiting"]);
    expect(Object.keys(await queue.fence())).toEqual(["other"]);
    expect(Object.keys(await queue.scores("leases"))).toEqual(["other"]);
    expect(Object.keys(await queue.hash("failures"))).toEqual(["other"]);
    expect(await queue.schedule()).toEqual([["waiting", now]]);
  });

  it("holds for a lease that has ended as long as nobody has reclaimed it", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.leased("a", { until: now - 1, due: now - 9, token: "t", attempts: 5 });
    expect(await acknowledging(queue, receipt("a"))).toEqual(["settled"]);
    expect(await queue.hash("messages")).toEqual({});
  });

  it("changes nothing without the token of the lease", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.leased("a", { until: now + 60_000, due: now, token: "t2", attempts: 5 });
    await queue.scheduled("waiting", now);
    const before = [await queue.hash("messages"), await queue.fence(), await queue.scores("leases")];
    const answers = await acknowledging(
      queue,
      receipt("a"),
      receipt("waiting"),
      receipt("absent"),
      receipt("a", "t22"),
    );
    expect(answers).toEqual(["lease-lost", "lease-lost", "lease-lost", "lease-lost"]);
    expect([await queue.hash("messages"), await queue.fence(), await queue.scores("leases")]).toEqual(before);
  });

  it("tells leases of different claims apart that are mixed in one call", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    const ids = Array.from({ length: 9 }, (_, at) => `m${at}`);
    for (const [at, id] of ids.entries()) {
      await queue.leased(id, { until: now + 60_000, due: now, token: `t${at % 3}`, attempts: 5 });
    }
    // Of the last three the wrong ones.
    const receipts = ids.map((id, at) => receipt(id, at < 6 ? `t${at % 3}` : "t0"));
    const lost = ["settled", "lease-lost", "lease-lost"];
    expect(await acknowledging(queue, ...receipts)).toEqual([...Array(6).fill("settled"), ...lost]);
    expect(Object.keys(await queue.fence()).sort()).toEqual(["m7", "m8"]);
  });

  it("twice of one message in one call is done once", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.leased("a", { until: now + 60_000, due: now, token: "t", attempts: 5 });
    expect(await acknowledging(queue, receipt("a"), receipt("a"))).toEqual(["settled", "lease-lost"]);
  });

  it("deletes no more than 1 MiB in one call, one message at least", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    const ids = ["huge", "a", "b", "c"];
    for (const id of ids) {
      const payload = Buffer.alloc(id === "huge" ? 3 << 20 : 400_000);
      await queue.leased(id, { until: now + 60_000, due: now, token: "t", attempts: 5 }, { payload });
    }
    await bench.raw.command("SCRIPT", "FLUSH");
    await bench.raw.command("CONFIG", "RESETSTAT");
    expect(await acknowledging(queue, ...ids.map((id) => receipt(id)))).toEqual(ids.map(() => "settled"));
    // Not known to the server at first; then the huge one, two, and one.
    expect(await bench.raw.text("INFO", "commandstats")).toMatch(/cmdstat_evalsha:calls=4,/);
    expect(await queue.hash("messages")).toEqual({});
  });
});
