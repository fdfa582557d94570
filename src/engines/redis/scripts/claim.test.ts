import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claimsOf, idsOf } from "../../../../test/redis-engine/claiming.js";
import { directEvaluator } from "../../../../test/redis-engine/direct-evaluator.js";
import { ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import { nodeRedis } from "../../../clients/node-redis.js";
import { decodeFailure } from "../message-format.js";

let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

const claiming = claimsOf(() => bench);

describe("claim takes", () => {
  it("what is due, in due order and then in the order of scheduling, and nothing that is due later", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.scheduled("late", now - 10);
    await queue.scheduled("z", now - 20);
    await queue.scheduled("a", now - 20);
    await queue.scheduled("first", now - 30);
    await queue.scheduled("future", now + 60_000);

    const result = await claiming(queue, { token: "mine", order: 7, attempts: 3 });

    expect(result.messages).toEqual(
      [
        ["first", now - 30],
        ["z", now - 20],
        ["a", now - 20],
        ["late", now - 10],
      ].map(([id, dueAt]) => ({ id, dueAt, payload: Buffer.from(String(id)), attempt: 1, attempts: 3 })),
    );
    expect(result.leaseUntil).toBe(Math.floor(result.now) + 30_000);
    expect(await queue.schedule()).toEqual([["future", now + 60_000]]);
    const until = result.leaseUntil;
    expect(await queue.scores("leases")).toEqual({ first: until, z: until, a: until, late: until });
    expect((await queue.fence())["z"]).toEqual({ due: now - 20, attempts: 3, token: "mine" });
    expect((await queue.texts("claims"))["c"]).toBe(`7 ${until} ${Number.MAX_SAFE_INTEGER} mine`);
    expect(Object.keys(await queue.hash("messages"))).toHaveLength(5);
  });

  it("a message in the very ms of its due time, and by the fraction not one before", async () => {
    const queue = bench.queue();
    const due = (await bench.now()) + 20;
    await queue.scheduled("soon", due);
    let result = await claiming(queue);
    while (result.messages.length === 0) {
      expect(result.now).toBeLessThan(due);
      result = await claiming(queue);
    }
    expect(result.now).toBeGreaterThanOrEqual(due);
  });

  it.each([
    { taken: 20, hash: "hashtable", zset: "skiplist" },
    { taken: 4, hash: "listpack", zset: "listpack" },
  ])("$taken into a $hash and a $zset, and leaves nothing else there", async ({ taken, hash, zset }) => {
    const queue = bench.queue();
    const now = await bench.now();
    for (let n = 0; n < taken; n++) await queue.scheduled(`m${n}`, now - 1_000);
    const { messages, leaseUntil } = await claiming(queue, { limit: 50 });
    expect(messages).toHaveLength(taken);
    expect(await queue.scores("leases")).toEqual(Object.fromEntries(messages.map(({ id }) => [id, leaseUntil])));
    expect(Object.keys(await queue.fence()).toSorted()).toEqual(messages.map(({ id }) => id).toSorted());
    expect(await queue.encoding("leased")).toBe(hash);
    expect(await queue.encoding("leases")).toBe(zset);
  });

  it("at most the limit, and at most 250", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await Promise.all(Array.from({ length: 260 }, (_, n) => queue.scheduled(`m${n}`, now - 1_000 + n)));
    expect(idsOf(await claiming(queue, { limit: 2 }))).toEqual(["m0", "m1"]);
    expect((await claiming(queue, { limit: 0 })).messages).toEqual([]);
    const many = await claiming(queue, { limit: 10_000 });
    expect(many.messages).toHaveLength(250);
    expect(many.nextAt).toBeLessThanOrEqual(many.now);
  });

  it("about 1 MiB of payload, but one message at least", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.scheduled("huge", now - 9, { payload: Buffer.alloc(2 << 20) });
    for (const id of ["a", "b", "c"]) await queue.scheduled(id, now - 5, { payload: Buffer.alloc(400 << 10) });
    expect(idsOf(await claiming(queue))).toEqual(["huge"]);
    const second = await claiming(queue);
    expect(idsOf(second)).toEqual(["a", "b"]);
    expect(second.nextAt).toBeLessThanOrEqual(second.now);
    expect(idsOf(await claiming(queue))).toEqual(["c"]);
  });

  it("headers, limits of their own and payloads as they were given", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    const headers = { traceparent: "00-é", ["__proto__"]: "x" };
    await queue.scheduled("é{}:\0 🙂", now - 1, { payload: Buffer.from([0, 255, 10]), attempts: 9, headers });
    const [message] = (await claiming(queue)).messages;
    expect(message).toEqual({
      id: "é{}:\0 🙂",
      dueAt: now - 1,
      payload: Buffer.from([0, 255, 10]),
      attempt: 1,
      attempts: 9,
      headers,
    });
    expect((await queue.fence())["é{}:\0 🙂"]?.attempts).toBe(9);
  });

  it("nothing while the queue is paused", async () => {
    const queue = bench.queue();
    await queue.scheduled("a", (await bench.now()) - 1);
    await bench.raw.command("HSET", queue.keys.state, "paused", 1);
    const result = await claiming(queue);
    expect(result.messages).toEqual([]);
    expect(result.nextAt).toBe(Math.floor(result.now) + 5_000);
  });

  it("nothing whose body is gone, or is that of another message of this id, and says so", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.scheduled("evicted", now - 3);
    await queue.failed("evicted", 1);
    await bench.raw.command("HDEL", queue.keys.messages, "evicted");
    await queue.scheduled("anew", now - 2);
    await queue.scheduled("anew", now + 60_000);
    await queue.scheduled("whole", now - 1);

    const result = await claiming(queue);

    expect(idsOf(result)).toEqual(["whole"]);
    expect(result.missing).toEqual(["evicted", "anew"]);
    expect(await queue.schedule()).toEqual([["anew", now + 60_000]]);
    expect(Object.keys(await queue.hash("failures"))).toEqual([]);
    expect(Object.keys(await queue.scores("leases"))).toEqual(["whole"]);
  });

  it("nothing that may not be delivered any more: that goes to the dead letters", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.scheduled("expired", now - 100, { expiresAt: now - 1 });
    await queue.failed("expired", 1, '{"name":"E"}', 7);
    await queue.scheduled("in time", now - 90, { expiresAt: now + 60_000, attempts: 2, headers: { a: "b" } });
    await queue.scheduled("tired", now - 80);
    await queue.failed("tired", 5);
    await queue.scheduled("once more", now - 70, { attempts: 6 });
    await queue.failed("once more", 5);

    const result = await claiming(queue);

    expect(result.messages.map(({ id, attempt, attempts }) => ({ id, attempt, attempts }))).toEqual([
      { id: "in time", attempt: 1, attempts: 2 },
      { id: "once more", attempt: 6, attempts: 6 },
    ]);
    expect(result.buried).toEqual([
      { id: "expired", reason: "expired" },
      { id: "tired", reason: "attempts" },
    ]);
    const dead = await queue.scores("dead");
    expect(Object.keys(dead).toSorted()).toEqual(["expired", "tired"]);
    expect(dead["expired"]).toBe(Math.floor(result.now));
    const { expired } = await queue.hash("failures");
    expect(decodeFailure(expired!)).toMatchObject({ attempts: 1, errorAt: 7, dueAt: now - 100, reason: "expired" });
    expect(Object.keys(await queue.hash("messages"))).toHaveLength(4);
    expect(await queue.schedule()).toEqual([]);
  });
});

describe("claim reclaims", () => {
  it("leases that have ended: due again as of their end, one attempt used, at their old place", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    const old = { due: now - 9_000, token: "old", attempts: 5 };
    await queue.leased("second", { ...old, until: now - 50 });
    await queue.leased("first", { ...old, until: now - 60 });
    await queue.leased("held", { ...old, until: now + 60_000 });
    await queue.failed("first", 2, '{"name":"E"}', 8);

    await claiming(queue, { limit: 0 });

    expect(await queue.schedule()).toEqual([
      ["first", now - 60],
      ["second", now - 50],
    ]);
    expect(await queue.scores("leases")).toEqual({ held: now + 60_000 });
    expect(Object.keys(await queue.fence())).toEqual(["held"]);
    const failures = await queue.hash("failures");
    expect(decodeFailure(failures["first"]!)).toMatchObject({ attempts: 3, errorAt: 8, dueAt: 0, reason: "" });
    expect(failures["first"]!.toString("utf8", 22)).toBe('{"name":"E"}');
    expect(decodeFailure(failures["second"]!)).toMatchObject({ attempts: 1, errorAt: 0 });

    const { messages } = await claiming(queue);
    expect(messages.map(({ id, attempt, dueAt }) => ({ id, attempt, dueAt }))).toEqual([
      { id: "first", attempt: 4, dueAt: now - 60 },
      { id: "second", attempt: 2, dueAt: now - 50 },
    ]);
  });

  it("and takes what it reclaimed in the same call, but buries what has no attempt left", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.leased("again", { until: now - 2, due: now - 40, token: "old", attempts: 2 });
    await queue.leased("over", { until: now - 1, due: now - 30, token: "old", attempts: 1 });
    const result = await claiming(queue);
    expect(idsOf(result)).toEqual(["again"]);
    expect(result.buried).toEqual([{ id: "over", reason: "attempts" }]);
    expect(await queue.scores("dead")).toEqual({ over: now - 1 });
    const { over } = await queue.hash("failures");
    expect(decodeFailure(over!)).toMatchObject({ attempts: 1, dueAt: now - 30, reason: "attempts" });
  });

  it("at most 125 in one call, and comes again at once for the rest, also while paused", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    const lease = { until: now - 1, due: now - 2, token: "old", attempts: 5 };
    await Promise.all(Array.from({ length: 135 }, (_, n) => queue.leased(`m${n}`, lease)));
    await bench.raw.command("HSET", queue.keys.state, "paused", 1);
    const first = await claiming(queue);
    expect(await queue.schedule()).toHaveLength(125);
    expect(first.nextAt).toBeLessThanOrEqual(first.now);
    await claiming(queue);
    expect(await queue.schedule()).toHaveLength(135);
  });

  it("an entry without its lease only away, and says so", async () => {
    const queue = bench.queue();
    await bench.raw.command("ZADD", queue.keys.leases, 1, "ghost");
    expect((await claiming(queue)).missing).toEqual(["ghost"]);
    expect(await queue.scores("leases")).toEqual({});
  });

  it("a lease without its fence: the message is due again at its old place, one attempt used", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    for (const id of ["b", "a", "dead"]) await queue.leased(id, { until: now - 10, due: 1, token: "t", attempts: 5 });
    await bench.raw.command("DEL", queue.keys.leased);
    await bench.raw.command("ZADD", queue.keys.dead, 1, "dead");
    const result = await claiming(queue);
    expect(result.messages.map(({ id, dueAt, attempt }) => [id, dueAt, attempt])).toEqual([
      ["b", now - 10, 2],
      ["a", now - 10, 2],
    ]);
    expect(result.missing).toEqual([]);
    expect(Object.keys(await queue.scores("dead"))).toEqual(["dead"]);
  });
});

describe("claim refuses to run", () => {
  it("when it arrives later than it may, and changes nothing", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.scheduled("a", now - 1);
    const connection = await nodeRedis({ url: bench.server.url }).connect(1_000);
    const late = directEvaluator(connection, { notAfter: now - 1 });
    await expect(claiming(queue, {}, late)).rejects.toMatchObject({
      code: "TOOLATE",
      message: expect.stringMatching(/\d{13}\.\d{3}/),
    });
    connection.destroy();
    expect(await queue.schedule()).toHaveLength(1);
    expect(await queue.texts("claims")).toEqual({});
  });

  it("when it may not publish, and takes nothing; what it reclaimed is reclaimed as a whole", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.scheduled("due", now - 1);
    await queue.leased("ended", { until: now - 1, due: now - 9, token: "old", attempts: 5 });
    await bench.raw.command("HSET", queue.keys.state, "duty", "d", "dutyAt", now + 4_000);
    await bench.raw.command("ACL", "SETUSER", "mute", "on", ">pw", "~*", "+@all", "-publish", "&*");
    const mute = await nodeRedis({ url: `redis://mute:pw@127.0.0.1:${bench.server.port}` }).connect(1_000);
    await expect(claiming(queue, {}, directEvaluator(mute))).rejects.toMatchObject({ outcome: "refused" });
    mute.destroy();
    expect((await queue.schedule()).map(([id]) => id).toSorted()).toEqual(["due", "ended"]);
    expect(await queue.fence()).toEqual({});
    expect(await queue.scores("leases")).toEqual({});
    expect(Object.keys(await queue.hash("failures"))).toEqual(["ended"]);
    expect(await queue.texts("claims")).toEqual({});
  });

  it("on a layout newer than it knows", async () => {
    const queue = bench.queue();
    await bench.raw.command("HSET", queue.keys.state, "v", 2);
    await expect(claiming(queue)).rejects.toMatchObject({ code: "LAYOUT" });
  });
});

describe("claim goes on", () => {
  it("when Redis is at its memory limit", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.scheduled("due", now - 1);
    await queue.leased("ended", { until: now - 1, due: now - 9, token: "old", attempts: 5 });
    await bench.raw.command("CONFIG", "SET", "maxmemory", 1);
    try {
      await expect(bench.raw.command("SET", "more", "x")).rejects.toThrow("OOM");
      expect(idsOf(await claiming(queue)).toSorted()).toEqual(["due", "ended"]);
    } finally {
      await bench.raw.command("CONFIG", "SET", "maxmemory", 0);
    }
  });

  it("when a newcomer finds old entries of consumers that were killed, and sweeps them", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await bench.raw.command(
      "HSET",
      queue.keys.claims,
      "killed",
      `9 ${now - 60_001} 1 t`,
      "alive",
      `9 ${now - 5_000} 1 t`,
    );
    await claiming(queue);
    expect(Object.keys(await queue.texts("claims")).toSorted()).toEqual(["alive", "c"]);
  });
});
