import { afterEach, describe, expect, it, vi } from "vitest";
import type { EngineQueue, NewMessage } from "../../../src/engine.js";
import { zsetRemoveEngine } from "../../../src/engines/zset-remove/engine.js";
import { zsetWatchEngine } from "../../../src/engines/zset-watch/engine.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { withRedis } from "../../support/with-redis.js";

const cluster = withRedis({ args: ["--cluster-enabled", "yes"] });
const redis = withRedis();
const hour = 3_600_000;

let claims = 0;

function message(id: string, options: Partial<NewMessage> = {}): NewMessage {
  return { id, payload: Buffer.from(`payload of ${id}`), due: { delay: 0 }, onDuplicate: "keep", ...options };
}

async function take(queue: EngineQueue, limit = 100) {
  const token = `token-${++claims}`;
  const claim = await queue.claim({ limit, lease: 60_000, consumer: "c", token, attempts: 5 });
  const ids = claim.messages.map(({ id }) => id);
  return { ids, receipts: ids.map((id) => ({ id, token, leaseUntil: claim.leaseUntil })) };
}

afterEach(async () => {
  vi.restoreAllMocks();
  await redis.raw.command("CONFIG", "SET", "maxmemory", 0);
  await redis.raw.command("ACL", "SETUSER", "default", "+@all");
  await redis.raw.command("FLUSHALL");
});

describe.each([
  ["zset-remove", zsetRemoveEngine],
  ["zset-watch", zsetWatchEngine],
] as const)("The engine %s", (name, makeEngine) => {
  const engine = () => closedAtEnd(makeEngine({ url: redis.url }));

  it("keeps a queue under keys of one slot, and nothing of a message that is gone", async () => {
    const queue = engine().open("orders");
    const watch = await queue.watch("c", { wake() {}, postpone() {}, interrupted() {}, recovered() {} });
    await queue.schedule(["a", "b", "c"].map((id) => message(id)));
    await queue.pause();
    await queue.schedule([message("later", { due: { delay: hour } })]);
    const seen = new Set((await redis.raw.text("KEYS", "*")) as string[]);
    await queue.resume();
    const { receipts } = await take(queue);
    await queue.retry(receipts.slice(0, 1).map((receipt) => ({ ...receipt, delay: 0 })));
    for (const key of (await redis.raw.text("KEYS", "*")) as string[]) seen.add(key);
    const base = `{punctual:orders}:${name}`;
    expect([...seen].toSorted()).toEqual(["claims", "parked", "schedule", "state"].map((key) => `${base}:${key}`));
    const slots = await Promise.all([...seen].map((key) => cluster.raw.command("CLUSTER", "KEYSLOT", key)));
    expect(new Set(slots)).toEqual(new Set([await cluster.raw.command("CLUSTER", "KEYSLOT", "punctual:orders")]));
    await queue.acknowledge([...receipts, ...(await take(queue)).receipts]);
    await queue.purge("waiting");
    await watch[Symbol.asyncDispose]();
    expect(await redis.raw.text("KEYS", "*")).toEqual([`${base}:state`]);
  });

  it("delivers each of 2,000 messages once to ten processes that take them at the same time", async () => {
    await engine()
      .open("q")
      .schedule(Array.from({ length: 2_000 }, (_, index) => message(`m-${index}`)));
    const taken = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const queue = engine().open("q");
        const ids: string[] = [];
        for (let due = 1; due > 0; { due } = await queue.counts()) ids.push(...(await take(queue, 30)).ids);
        return ids;
      }),
    );
    expect(taken.flat()).toHaveLength(2_000);
    expect(new Set(taken.flat()).size).toBe(2_000);
    expect(taken.filter((ids) => ids.length > 0).length).toBeGreaterThan(1);
  });

  it("takes nothing early when the first thing that a process does is to claim, and its clock is an hour ahead", async () => {
    await engine()
      .open("q")
      .schedule([message("due"), message("far", { due: { delay: hour / 2 } })]);
    const right = Date.now.bind(Date);
    vi.spyOn(Date, "now").mockImplementation(() => right() + hour);
    expect((await take(engine().open("q"))).ids).toEqual(["due"]);
  });

  it("knows its scripts again when the server has forgotten them", async () => {
    const queue = engine().open("q");
    const forget = () => redis.raw.command("SCRIPT", "FLUSH");
    for (const round of [1, 2]) {
      await forget();
      await queue.schedule([message("a"), message(`other-${round}`)]);
      await forget();
      const { receipts } = await take(queue);
      await forget();
      expect(await queue.retry(receipts.map((receipt) => ({ ...receipt, delay: 0 })))).toEqual(["settled", "settled"]);
      await forget();
      await queue.pause();
      await forget();
      expect(await queue.counts()).toMatchObject({ due: 2, paused: true });
      await forget();
      await queue.resume();
      await forget();
      expect(await queue.purge("waiting")).toBe(2);
    }
  });

  it("puts back what it holds though Redis is at its memory limit, where a new message is refused", async () => {
    const queue = engine().open("q");
    await queue.schedule(["a", "b"].map((id) => message(id)));
    const { receipts } = await take(queue);
    await redis.raw.command("CONFIG", "SET", "maxmemory", 100_000);
    await expect(queue.schedule([message("new")])).rejects.toMatchObject({ code: "storage-full" });
    expect(await queue.release(receipts)).toEqual(["settled", "settled"]);
    const atTheLimit: unknown = await take(queue, 1).then(
      ({ ids }) => ids,
      (error: unknown) => error,
    );
    // Redis queues no command of a transaction then, so nothing is taken, and nothing lost.
    const refused = expect.objectContaining({ code: "storage-full" });
    expect(atTheLimit).toEqual(name === "zset-watch" ? refused : ["a"]);
    await redis.raw.command("CONFIG", "SET", "maxmemory", 0);
    expect((await take(queue)).ids).toContain("b");
  });

  it("goes on holding what cannot be put back, until it can", async () => {
    const queue = engine().open("q");
    await queue.schedule([message("a")]);
    const { receipts } = await take(queue);
    await redis.raw.command("ACL", "SETUSER", "default", "-zadd");
    await expect(queue.release(receipts)).rejects.toMatchObject({ details: { results: [undefined] } });
    expect((await queue.counts()).leased).toBe(1);
    await redis.raw.command("ACL", "SETUSER", "default", "+zadd");
    expect(await queue.release(receipts)).toEqual(["settled"]);
    expect((await take(queue)).ids).toEqual(["a"]);
  });

  it("says what to do when there are messages where none can be, and moves none over others", async () => {
    const queue = engine().open("q");
    const base = `{punctual:q}:${name}`;
    await redis.raw.command("ZADD", `${base}:parked`, 1, "left behind");
    await queue.schedule([message("a")]);
    await expect(queue.pause()).rejects.toThrow(`${base}:parked holds messages although there is no pause`);
    await redis.raw.command("DEL", `${base}:parked`);
    await queue.pause();
    await redis.raw.command("ZADD", `${base}:schedule`, 1, "written past it");
    await expect(queue.resume()).rejects.toThrow(`${base}:schedule holds messages although there is a pause`);
    await redis.raw.command("DEL", `${base}:schedule`);
    await queue.resume();
    expect((await take(queue)).ids).toEqual(["a"]);
  });

  it("settles what one queue took through another one of the same name", async () => {
    const one = engine();
    await one.open("q").schedule([message("a")]);
    const { receipts } = await take(one.open("q"));
    expect((await one.open("q").counts()).leased).toBe(1);
    expect(await one.open("q").acknowledge(receipts)).toEqual(["settled"]);
    expect(await one.open("q").acknowledge(receipts)).toEqual(["lease-lost"]);
  });

  it("tells which messages it gave up, and how many of the queue in all", async () => {
    const told: unknown[] = [];
    for (const id of ["a", "b"]) {
      const queue = engine().open("q", { onDropped: (dropped) => told.push(dropped) });
      await queue.schedule([message(id)]);
      const { receipts } = await take(queue);
      await queue.bury(receipts.map((receipt) => ({ ...receipt, reason: "poison" })));
    }
    expect(told).toEqual([
      { ids: ["a"], total: 1 },
      { ids: ["b"], total: 2 },
    ]);
  });
});
