import { createClient } from "@redis/client";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { EngineQueue } from "../../../src/engine.js";
import { delayqueueEngine, type DelayqueueOptions } from "../../../src/engines/delayqueue/engine.js";
import { Queue } from "../../../src/queue.js";
import { bytes, ids, newMessage } from "../../../src/testing/conformance/stage.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { withRedis } from "../../support/with-redis.js";

const redis = withRedis();
beforeEach(() => redis.raw.command("FLUSHALL"));

const engine = (options: Omit<DelayqueueOptions, "url"> = {}) =>
  closedAtEnd(delayqueueEngine({ url: redis.url, ...options }));

async function take(queue: EngineQueue, token: string, { lease = 60_000, limit = 100 } = {}) {
  const claim = await queue.claim({ limit, lease, consumer: "c", token, attempts: 5 });
  return { ...claim, receipts: claim.messages.map(({ id }) => ({ id, token, leaseUntil: claim.leaseUntil })) };
}

/** The names of all keys that are there. */
const left = async () => ((await redis.raw.text("KEYS", "*")) as string[]).toSorted();

/** The commands that clients send while `work` runs, but for those of this test. */
async function sentDuring(work: () => Promise<unknown>): Promise<string[]> {
  const monitor = createClient({ url: redis.url });
  monitor.on("error", () => {});
  await monitor.connect();
  onTestFinished(() => monitor.destroy());
  const sent: string[] = [];
  await monitor.monitor((line) => {
    const [, client = "", verb = ""] = /^\S+ \[\d+ ([^\]]+)\] "([^"]+)"/.exec(String(line)) ?? [];
    if (client !== "lua") sent.push(verb.toUpperCase());
  });
  await work();
  await redis.raw.command("ECHO", "end");
  await expect.poll(() => sent.at(-1)).toBe("ECHO");
  return sent.slice(0, -1);
}

describe("The faults of the original that ours has not:", () => {
  it("1. whole seconds: nothing is early, and what has no fraction is due at the end of its second.", async () => {
    const queue = engine().open("orders");
    // Far enough away that none is due when it is scheduled.
    const second = Math.floor(Date.now() / 1000) + 2;
    await redis.raw.command("SET", "dp:orders:msg:whole", "x");
    await redis.raw.command("ZADD", "dp:orders:pending", second, "whole");
    // Also the ms that is a whole second: written without a fraction it would be due at the end of that.
    const dues = [second * 1000 - 1, second * 1000, second * 1000 + 1, second * 1000 + 500];
    await queue.schedule(dues.map((at) => newMessage(`at ${at}`, { due: { at } })));
    expect((await queue.get(["whole"]))[0]?.dueAt).toBe((second + 1) * 1000);
    const taken: string[] = [];
    for (let round = 0; taken.length < 5; round++) {
      const { messages, now } = await take(queue, `${round}`);
      for (const { id, dueAt } of messages) {
        expect(dueAt).toBe(id === "whole" ? (second + 1) * 1000 : Number(id.slice(3)));
        expect(now).toBeGreaterThanOrEqual(dueAt);
        taken.push(id);
      }
    }
    expect(taken).toEqual([...dues.map((at) => `at ${at}`), "whole"]);
  });

  it("2. a backlog deleted unrun: 60 due, one worker, leases of 1 s, 3 s of work, no retry: each runs once.", async () => {
    const queue = new Queue<string>("orders", { engine: engine() });
    await queue.scheduleMany(ids(60).map((id) => ({ payload: id, id, delay: 0, attempts: 1 })));
    const ran: string[] = [];
    let leased = 0;
    const consumer = queue.consume(
      async ({ id }) => {
        ran.push(id);
        leased = Math.max(leased, (await queue.counts()).leased);
        await sleep(50);
      },
      { concurrency: 1, lease: "1s" },
    );
    await expect.poll(() => ran.length, { timeout: 12_000 }).toBe(60);
    await consumer.close();
    expect(ran).toEqual(ids(60));
    // The one that runs, and the one before while its acknowledgement is on its way.
    expect(leased).toBeLessThanOrEqual(2);
    expect(await redis.raw.command("EXISTS", "dp:orders:pending", "dp:orders:unack", "dp:orders:garbage")).toBe(0);
  });

  it("3. no fence: a late acknowledgement or refusal changes nothing, and brings back nothing that is gone.", async () => {
    const queue = engine().open("orders");
    await queue.schedule([newMessage("a")]);
    const late = (await take(queue, "late", { lease: 1_000 })).receipts;
    await sleep(1_020);
    const { receipts, messages } = await take(queue, "now");
    expect(messages.map(({ attempt }) => attempt)).toEqual([2]);
    const settled = async () => [
      await queue.acknowledge(late),
      await queue.retry(late.map((receipt) => ({ ...receipt, delay: 0 }))),
      await queue.release(late),
      await queue.bury(late.map((receipt) => ({ ...receipt, reason: "poison" }))),
    ];
    const before = await redis.raw.text("ZRANGE", "dp:orders:unack", 0, -1, "WITHSCORES");
    expect((await settled()).flat()).toEqual(Array(4).fill("lease-lost"));
    expect(await redis.raw.text("ZRANGE", "dp:orders:unack", 0, -1, "WITHSCORES")).toEqual(before);
    expect(await queue.acknowledge(receipts)).toEqual(["settled"]);
    expect((await settled()).flat()).toEqual(Array(4).fill("lease-lost"));
    expect(await left()).toEqual(["dp:orders:punctual:claims", "dp:orders:punctual:state"]);
  });

  it("4. several commands: to schedule, settle and cancel is one script each, events with it.", async () => {
    const queue = engine({ reportEvents: true }).open("orders");
    // Once before, so that the scripts are loaded.
    const life = async (token: string) => {
      await queue.schedule(ids(4).map((id) => newMessage(id)));
      const { receipts } = await take(queue, token, { limit: 3 });
      await queue.acknowledge(receipts.slice(0, 1));
      await queue.retry(receipts.slice(1, 2).map((receipt) => ({ ...receipt, delay: 0 })));
      await queue.bury(receipts.slice(2).map((receipt) => ({ ...receipt, reason: "poison" })));
      await queue.cancel(["m-1", "m-3"]);
    };
    await life("one");
    expect(await sentDuring(() => life("two"))).toEqual(Array(6).fill("EVALSHA"));
  });

  it("5. a payload that ends before it is delivered: it is told as expired, holds nobody up and leaves nothing.", async () => {
    const dropped: string[] = [];
    const queue = engine({ ttl: "1s" }).open("orders", { onDropped: ({ ids: gone }) => dropped.push(...gone) });
    await queue.schedule([newMessage("lost"), newMessage("later", { due: { delay: 1_000 } })]);
    await redis.raw.command("LPUSH", "dp:orders:ready", "listed");
    await redis.raw.command("HSET", "dp:orders:retry:cnt", "listed", 3);
    await sleep(1_100);
    let claim = await take(queue, "one", { limit: 2 });
    expect(claim.buried.map(({ id, reason }) => [id, reason])).toEqual([
      ["listed", "expired"],
      ["lost", "expired"],
    ]);
    expect(claim.nextAt).toBeLessThanOrEqual(claim.now);
    claim = await take(queue, "two", { limit: 2 });
    expect(claim.messages.map(({ id }) => id)).toEqual(["later"]);
    await queue.acknowledge(claim.receipts);
    expect(dropped).toEqual(["listed", "lost"]);
    expect(await left()).toEqual(["dp:orders:punctual:claims", "dp:orders:punctual:state"]);
  });

  it("5. and a payload stays as long after a new due time as after the first one.", async () => {
    const queue = engine({ ttl: "2s" }).open("orders");
    await queue.schedule(ids(3).map((id) => newMessage(id)));
    const [a, b] = (await take(queue, "one", { limit: 2 })).receipts;
    await queue.retry([{ ...a!, delay: 5_000 }]);
    await queue.release([{ ...b!, delay: 5_000 }]);
    await queue.reschedule([{ id: "m-2", due: { delay: 5_000 } }]);
    for (const id of ids(3)) expect(await redis.raw.command("PTTL", `dp:orders:msg:${id}`)).toBeGreaterThan(6_500);
  });

  it("6. scripts without a bound: with 20,000 due, listed and under ended leases, no call works on more than 1,000.", async () => {
    const queue = engine().open("orders");
    const fill =
      "for i = 1, 20000 do redis.call(ARGV[1], KEYS[1], unpack({ARGV[2] ~= '' and i or ARGV[3] .. i, ARGV[2] ~= '' and ARGV[3] .. i or nil})) end";
    for (const [verb, key, score] of [
      ["ZADD", "pending", "1"],
      ["ZADD", "unack", "1"],
      ["LPUSH", "ready", ""],
      ["LPUSH", "retry", ""],
    ] as const) {
      await redis.raw.command("EVAL", fill, 1, `dp:orders:${key}`, verb, score, key);
    }
    await redis.raw.command("EVAL", "for i = 1, 20000 do redis.call('SADD', KEYS[1], i) end", 1, "dp:orders:garbage");
    const sizes = async () =>
      await Promise.all(
        (["ZCARD pending", "ZCARD unack", "LLEN ready", "LLEN retry", "SCARD garbage"] as const).map(async (words) => {
          const [verb = "", key = ""] = words.split(" ");
          return Number(await redis.raw.command(verb, `dp:orders:${key}`));
        }),
      );
    for (let round = 0; round < 5; round++) {
      const before = await sizes();
      await take(queue, `${round}`, { limit: 10_000 });
      const moved = (await sizes()).map((size, index) => (before[index] ?? 0) - size);
      expect(moved.reduce((sum, count) => sum + Math.abs(count), 0)).toBeLessThanOrEqual(1_000);
      expect(moved.some((count) => count > 0)).toBe(true);
    }
    await redis.raw.command("CONFIG", "RESETSTAT");
    await queue.cancel(["ready1", "retry1", "pending1", "absent"]);
    const stats = String(await redis.raw.text("INFO", "commandstats"));
    expect(stats).not.toContain("cmdstat_lrem");
  });

  it("7. a callback that throws kills nobody, close waits, and the clocks of clients decide nothing.", async () => {
    const queue = new Queue<string>("orders", { engine: engine() });
    const right = Date.now;
    onTestFinished(() => void (Date.now = right));
    Date.now = () => right() + 3_600_000;
    await queue.schedule("far", { delay: 1_800_000 });
    await queue.scheduleMany(ids(5).map((id) => ({ payload: id, id, delay: 0 })));
    let ended = 0;
    const started: string[] = [];
    const consumer = queue.consume(
      async ({ id, attempt, payload }) => {
        started.push(payload);
        if (attempt === 1) throw new Error(`not ${id}`);
        await sleep(100);
        ended++;
      },
      { concurrency: 1, retry: { backoff: () => 0 } },
    );
    await expect.poll(() => ended, { timeout: 5_000 }).toBe(1);
    await expect.poll(() => started.length).toBeGreaterThan(6);
    await consumer.close();
    expect(ended).toBe(started.length - 5);
    expect(started).not.toContain("far");
    expect(await queue.counts()).toMatchObject({ leased: 0, scheduled: 1 });
  });
});

describe("Any bytes", () => {
  it("can be an id or a payload, and equal payloads stay messages of their own.", async () => {
    const queue = engine().open("orders");
    const all = ["msg:1", "*?[a]", "\u0000", "a b", "{x}", "💥"];
    await queue.schedule(all.map((id) => newMessage(id, { payload: bytes("same") })));
    const { messages } = await take(queue, "one");
    expect(messages.map(({ id, payload }) => [id, Buffer.from(payload).toString()])).toEqual(
      all.map((id) => [id, "same"]),
    );
  });
});
