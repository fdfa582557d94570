import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claimsOf, idsOf } from "../../../../test/redis-engine/claiming.js";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import type { ClaimResult } from "../../../engine.js";

let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

const claiming = claimsOf(() => bench);

describe("A claim repeated with its token, because its reply was lost,", () => {
  it("gets the same messages in the same order, and no others", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.scheduled("z", now - 2);
    await queue.scheduled("a", now - 2);
    await queue.scheduled("retried", now - 1, { attempts: 8 });
    await queue.failed("retried", 2);
    const first = await claiming(queue, { token: "same" });
    const until = first.leaseUntil;
    await queue.scheduled("new", now - 1);
    await queue.leased("other", { until, due: 1, token: "another", attempts: 5 });

    const again = await claiming(queue, { token: "same" });

    expect(again.messages).toEqual(first.messages);
    expect(again.leaseUntil).toBe(until);
    expect(again.nextAt).toBeLessThanOrEqual(again.now);
    expect(await queue.schedule()).toHaveLength(1);
    expect((await queue.scores("leases"))["a"]).toBe(until);
  });

  it("gets them also when the token has bytes in it that C ends a text at", async () => {
    const queue = bench.queue();
    await queue.scheduled("a", 1);
    for (const _ of [1, 2]) expect(idsOf(await claiming(queue, { token: "a\0b" }))).toEqual(["a"]);
  });

  /** A claim of 250 with the token `same`, and 2,750 other leases that end in the same ms. */
  async function crowded(queue: RawQueue): Promise<ClaimResult> {
    const ids = Array.from({ length: 3_000 }, (_, n) => `m${(n * 1_789) % 3_000}`);
    await Promise.all(ids.map((id, n) => queue.scheduled(id, 1 + (n % 2))));
    const first = await claiming(queue, { token: "same", limit: 250 });
    expect(first.messages).toHaveLength(250);
    for (let n = 0; n < 11; n++) await claiming(queue, { consumer: "d", limit: 250 });
    const all = Object.keys(await queue.scores("leases"));
    expect(all).toHaveLength(3_000);
    await bench.raw.command("ZADD", queue.keys.leases, ...all.flatMap((id) => [first.leaseUntil, id]));
    return first;
  }

  it("gets what it took, in its order, also where it is spread over many leases that end in the same ms", async () => {
    const queue = bench.queue();
    const { messages } = await crowded(queue);
    expect((await claiming(queue, { token: "same" })).messages).toEqual(messages);
  });

  it("takes nothing anew when its leases end while it is told of them in pieces", async () => {
    const queue = bench.queue();
    const { messages } = await crowded(queue);
    await queue.scheduled("new", 1);
    const order = 1_000;
    const evaluator = {
      clock: bench.evaluator.clock,
      async evaluate(...call: Parameters<typeof bench.evaluator.evaluate>) {
        const evaluation = await bench.evaluator.evaluate(...call);
        await bench.raw.command("HSET", queue.keys.claims, "c", `${order} 1 1 same`);
        return evaluation;
      },
    };
    const again = await claiming(queue, { token: "same", limit: 250, order }, evaluator);
    // What the first piece had, and that its leases are over.
    expect(again.leaseUntil).toBe(Math.floor(again.now));
    expect(again.messages.length).toBeGreaterThan(0);
    expect(messages).toEqual(expect.arrayContaining([...again.messages]));
    expect(again.messages.length).toBeLessThan(250);
    expect(await queue.schedule()).toEqual([["new", 1]]);
  });

  it("gets nothing that is not under its lease any more, nor what has no deadline", async () => {
    const queue = bench.queue();
    for (const id of ["mine", "another's", "another time's", "no time's", "gone"]) await queue.scheduled(id, 1);
    const first = await claiming(queue, { token: "same" });
    expect(idsOf(first)).toHaveLength(5);
    const lease = { until: first.leaseUntil, due: 1, token: "same", attempts: 5 };
    await queue.leased("another's", { ...lease, token: "another" });
    await queue.leased("another time's", { ...lease, until: first.leaseUntil + 1 });
    await bench.raw.command("ZREM", queue.keys.leases, "no time's");
    await bench.raw.command("HDEL", queue.keys.messages, "gone");
    expect(idsOf(await claiming(queue, { token: "same" }))).toEqual(["mine"]);
  });

  it("gets nothing when it took nothing but what became due since", async () => {
    const queue = bench.queue();
    await claiming(queue, { token: "same" });
    await queue.scheduled("new", (await bench.now()) - 1);
    expect(idsOf(await claiming(queue, { token: "same" }))).toEqual(["new"]);
  });

  it("claims anew once those leases have ended", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.leased("ended", { until: now - 1, due: now - 9, token: "same", attempts: 5 });
    await bench.raw.command("HSET", queue.keys.claims, "c", `1 ${now - 1} 1 same`);
    const result = await claiming(queue, { token: "same" });
    expect(result.messages).toMatchObject([{ id: "ended", attempt: 2 }]);
    expect(result.leaseUntil).toBeGreaterThan(now);
  });

  it("is refused when a later claim of its consumer has run", async () => {
    const queue = bench.queue();
    await queue.scheduled("a", (await bench.now()) - 1);
    await claiming(queue, { order: 10, limit: 0 });
    await expect(claiming(queue, { order: 9 })).rejects.toMatchObject({ code: "STALE" });
    expect(await queue.schedule()).toHaveLength(1);
    expect(idsOf(await claiming(queue, { order: 10, consumer: "other" }))).toEqual(["a"]);
  });
});
