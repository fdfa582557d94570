import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import { directEvaluator } from "../../../../test/redis-engine/direct-evaluator.js";
import { nodeRedis } from "../../../clients/node-redis.js";
import { claim } from "./claim.js";

/** Claims that do not return: nobody waits for who made them. */

let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

let order = 0;
const claiming = ({ keys }: RawQueue, consumer: string, more: { returns?: boolean; limit?: number; token?: string }) =>
  claim(bench.evaluator, keys, {
    consumer,
    token: `t${++order}`,
    limit: 10,
    lease: 30_000,
    attempts: 5,
    order,
    returns: false,
    ...more,
  });

const books = async (queue: RawQueue) => {
  const { duty = "", deputy = "" } = await queue.texts("state");
  return { duty, deputy, waiting: Object.keys(await queue.scores("waiting")) };
};

describe("A claim that does not return", () => {
  it("of an empty queue leaves nobody behind and says when to look again", async () => {
    const queue = bench.queue();
    const { nextAt, now } = await claiming(queue, "x", {});
    expect(nextAt).toBe(Math.floor(now) + 5_000);
    expect(await books(queue)).toEqual({ duty: "", deputy: "", waiting: [] });
  });

  it("is never on duty, nor a deputy, nor waits, beside consumers or alone", async () => {
    const queue = bench.queue();
    using _a = await bench.listen(queue, "a");
    using _b = await bench.listen(queue, "b");
    const now = await bench.now();
    await queue.scheduled("later", now + 60_000);
    for (const consumer of ["x", "y"]) await claiming(queue, consumer, {});
    for (const consumer of ["a", "x", "b", "y", "z"]) {
      await claiming(queue, consumer, { returns: consumer < "x" });
    }
    expect(await books(queue)).toEqual({ duty: "a", deputy: "b", waiting: [] });
  });

  it("tells the one on duty of what it leaves behind", async () => {
    const queue = bench.queue();
    using ear = await bench.listen(queue, "a");
    await claiming(queue, "a", { returns: true });
    await queue.scheduled("m1", 1);
    await queue.scheduled("m2", 2);
    const { messages, nextAt, now } = await claiming(queue, "x", { limit: 1 });
    expect(messages).toMatchObject([{ id: "m1" }]);
    expect(nextAt).toBe(Math.floor(now));
    expect(await ear.all(1)).toEqual([`w ${Math.floor(now)}`]);
    expect(await books(queue)).toMatchObject({ duty: "a" });
  });

  it("tells the one on duty when its leases end earlier than that one looks", async () => {
    const queue = bench.queue();
    using ear = await bench.listen(queue, "a");
    await claiming(queue, "a", { returns: true });
    await queue.scheduled("m", 1);
    const request = { consumer: "x", token: "t", limit: 10, lease: 1_000, attempts: 5, order: 1, returns: false };
    const { leaseUntil, nextAt } = await claim(bench.evaluator, queue.keys, request);
    expect(await ear.all(1)).toEqual([`w ${leaseUntil}`]);
    expect(nextAt).toBe(leaseUntil);
  });

  it("says nothing when there is nothing to be said", async () => {
    const queue = bench.queue();
    using ear = await bench.listen(queue, "a");
    await claiming(queue, "a", { returns: true });
    for (const limit of [10, 0]) await claiming(queue, "x", { limit });
    expect(await ear.all(0)).toEqual([]);
  });

  it("of one that was on duty hands the duty on", async () => {
    const queue = bench.queue();
    using _x = await bench.listen(queue, "x");
    using ear = await bench.listen(queue, "b");
    await claiming(queue, "x", { returns: true });
    await claiming(queue, "b", { returns: true });
    await claiming(queue, "x", { returns: false });
    expect(await books(queue)).toEqual({ duty: "b", deputy: "", waiting: [] });
    expect(await ear.all(1)).toEqual([expect.stringMatching(/^w /)]);
  });

  it("whose reply was lost gets the same leases again", async () => {
    const queue = bench.queue();
    await queue.scheduled("m", 1);
    const first = await claiming(queue, "x", { token: "again" });
    const second = await claiming(queue, "x", { token: "again" });
    expect(first.messages).toMatchObject([{ id: "m" }]);
    expect(second).toMatchObject({ messages: first.messages, leaseUntil: first.leaseUntil });
  });
});

describe("An attempt of a claim that hung on its way", () => {
  it.each([{ returns: true }, { returns: false }])("takes nothing, nor reads it (returns: $returns)", async (more) => {
    const queue = bench.queue();
    const connection = await nodeRedis({ url: bench.server.url }).connect(1_000);
    try {
      const now = await bench.now();
      const request = { consumer: "x", token: "t", limit: 10, lease: 30_000, attempts: 5, order: 1, ...more };
      const [held, again] = [60_000, 60_001].map((left) => directEvaluator(connection, { notAfter: now + left }));
      expect((await claim(again!, queue.keys, request)).messages).toEqual([]);
      await queue.scheduled("m", 1);
      await expect(claim(held!, queue.keys, request)).rejects.toMatchObject({ code: "STALE" });
      expect((await queue.schedule()).map(([id]) => id)).toEqual(["m"]);
    } finally {
      connection.destroy();
    }
  });
});
