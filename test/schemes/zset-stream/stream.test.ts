import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { nodeRedis } from "../../../src/clients/node-redis.js";
import type { EngineQueue, NewMessage } from "../../../src/engine.js";
import { zsetStreamEngine } from "../../../src/engines/zset-stream/engine.js";
import { groupKeys, sharedKeys } from "../../../src/engines/zset-stream/keys.js";
import { claim } from "../../../src/engines/zset-stream/scripts/claim.js";
import { Queue } from "../../../src/queue.js";
import { directEvaluator } from "../../redis-engine/direct-evaluator.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { withRedis } from "../../support/with-redis.js";

const redis = withRedis();
let names = 0;
let name: string;
beforeEach(() => {
  name = `stream-${++names}`;
});

const open = () => closedAtEnd(zsetStreamEngine({ url: redis.url })).open(name);
const key = (part: string) => `{punctual:${name}}:zset-stream:${part}`;
const message = (id: string, options: Partial<NewMessage> = {}): NewMessage => ({
  id,
  payload: Buffer.from(id),
  due: { delay: 0 },
  onDuplicate: "keep",
  ...options,
});
let tokens = 0;
async function take(queue: EngineQueue, { consumer = "one", lease = 60_000 } = {}) {
  const token = `token-${++tokens}`;
  const claim = await queue.claim({ limit: 100, lease, consumer, token, attempts: 5 });
  const receipts = claim.messages.map(({ id }) => ({ id, token, leaseUntil: claim.leaseUntil }));
  return { ...claim, receipts, ids: claim.messages.map(({ id }) => id) };
}
/** What the group has not acknowledged: who has it, and how often it was delivered. */
const pending = async () => {
  const rows = (await redis.raw.text("XPENDING", key("stream"), "punctual", "-", "+", 100)) as unknown[][];
  return rows.map(([, owner, , deliveries]) => [owner, deliveries]);
};
const consumers = async () => {
  const rows = (await redis.raw.text("XINFO", "CONSUMERS", key("stream"), "punctual")) as unknown[][];
  return rows.map((row) => String(row[1])).toSorted();
};

describe("The group's list of pending entries", () => {
  it("tells who works on what, and how many attempts that has had", async () => {
    const queue = open();
    await queue.schedule([message("a"), message("b"), message("c")]);
    const { receipts } = await take(queue);
    expect(await pending()).toEqual([
      ["one", 1],
      ["one", 1],
      ["one", 1],
    ]);
    await queue.retry([{ ...receipts[0]!, delay: 0 }]);
    await queue.release([receipts[1]!]);
    await queue.bury([{ ...receipts[2]!, reason: "poison" }]);
    expect(await pending()).toEqual([
      ["-waiting", 1],
      ["-waiting", 0],
      ["-dead", 1],
    ]);
    const again = await take(queue, { consumer: "two" });
    expect(again.messages.map(({ id, attempt }) => `${id} ${attempt}`).toSorted()).toEqual(["a 2", "b 1"]);
    expect(await pending()).toEqual([
      ["two", 2],
      ["two", 1],
      ["-dead", 1],
    ]);
  });

  it("shows a takeover after the lease; the late one gets lease-lost and changes nothing", async () => {
    const queue = open();
    await queue.schedule([message("a")]);
    const late = await take(queue, { consumer: "late", lease: 1_000 });
    await expect.poll(async () => (await take(queue, { consumer: "next" })).ids, { timeout: 3_000 }).toEqual(["a"]);
    expect(await pending()).toEqual([["next", 2]]);
    expect(await queue.acknowledge(late.receipts)).toEqual(["lease-lost"]);
    expect(await queue.bury([{ ...late.receipts[0]!, reason: "late" }])).toEqual(["lease-lost"]);
    expect(await queue.counts()).toMatchObject({ leased: 1, dead: 0 });
    expect(await pending()).toEqual([["next", 2]]);
  });
});

describe("Nothing grows", () => {
  it("when 2,000 messages were delivered, some of them retried: no entry, no body, no index is left", async () => {
    const engine = closedAtEnd(zsetStreamEngine({ url: redis.url }));
    const queue = new Queue<number>(name, { engine });
    const done = new Set<number>();
    const consumer = queue.consume(
      async ({ payload, attempt }) => {
        if (payload % 10 === 0 && attempt === 1) throw new Error("once more");
        done.add(payload);
      },
      { concurrency: 200, retry: { backoff: () => 5 } },
    );
    await queue.scheduleMany(Array.from({ length: 2_000 }, (_, index) => ({ payload: index, delay: index % 50 })));
    await expect.poll(() => done.size, { timeout: 10_000 }).toBe(2_000);
    await consumer.close();
    expect(await redis.raw.command("XLEN", key("stream"))).toBe(0);
    const keys = (await redis.raw.text("KEYS", key("*"))) as string[];
    expect(keys.toSorted()).toEqual(["group:punctual:state", "groups", "queue", "stream"].map(key));
    // The stream without entries, the set of groups and two hashes.
    const sizes = await Promise.all(keys.map((one) => redis.raw.command("MEMORY", "USAGE", one)));
    expect(sizes.reduce<number>((sum, size) => sum + Number(size), 0)).toBeLessThan(4_000);
  });

  it("when consumers come and go: a name leaves the group with its consumer", async () => {
    const engine = closedAtEnd(zsetStreamEngine({ url: redis.url }));
    const queue = new Queue<string>(name, { engine });
    await take(engine.open(name), { consumer: "first" });
    for (let round = 0; round < 10; round++) {
      const handled = new Promise<void>((resolve) => {
        const consumer = queue.consume(async () => void setImmediate(() => void consumer.close().then(resolve)));
      });
      await queue.schedule(`message ${round}`, { delay: 0 });
      await handled;
    }
    expect(await consumers()).toEqual([]);
  });

  it("when consumers are killed: whoever comes new takes the names off that hold nothing and are long silent", async () => {
    const connection = await nodeRedis({ url: redis.url }).connect(1_000);
    onTestFinished(() => connection.destroy());
    const evaluator = directEvaluator(connection);
    const keys = { ...sharedKeys(`{punctual:${name}}:zset-stream`), ...groupKeys(key("").slice(0, -1), "punctual") };
    const claimAs = (consumer: string, order: number, silence: number) =>
      claim(
        evaluator,
        keys,
        "punctual",
        { consumer, order, token: consumer, limit: 1, lease: 60_000, attempts: 5 },
        silence,
      );
    const queue = open();
    for (const consumer of ["busy", "idle"]) {
      await queue.schedule([message(`of ${consumer}`)]);
      const { messages, leaseUntil } = await claimAs(consumer, 1, 60_000);
      if (consumer === "idle") await queue.acknowledge([{ id: messages[0]!.id, token: consumer, leaseUntil }]);
    }
    await claimAs("third", 1, 60_000);
    expect(await consumers()).toEqual(["busy", "idle"]);
    await expect
      .poll(
        async () => {
          await claimAs(`new-${++tokens}`, 1, 100);
          return await consumers();
        },
        { timeout: 3_000 },
      )
      .toEqual(["busy"]);
    expect(await pending()).toEqual([["busy", 1]]);
  });
});

describe("After somebody deleted", () => {
  it("bodies, claims say which are missing, drop what is left of them, and deliver the rest", async () => {
    const queue = open();
    await queue.schedule(["waits", "held"].map((id) => message(id)));
    const { receipts } = await take(queue, { lease: 1_000 });
    await queue.retry([{ ...receipts[0]!, delay: 0 }]);
    await queue.schedule(["scheduled", "there"].map((id) => message(id)));
    await redis.raw.command("HDEL", key("messages"), "waits", "held", "scheduled");
    const first = await take(queue, { lease: 1_000 });
    expect(first.ids).toEqual(["there"]);
    expect(first.missing).toEqual(["waits", "scheduled"]);
    await queue.acknowledge(first.receipts);
    await expect.poll(async () => (await take(queue)).missing, { timeout: 3_000 }).toEqual(["held"]);
    expect(await queue.audit()).toMatchObject({ ok: true, checked: 0 });
    expect(await redis.raw.command("XLEN", key("stream"))).toBe(0);
    expect(await pending()).toEqual([]);
  });

  it("the stream, the group is made again, and everything that was in it is delivered", async () => {
    const queue = open();
    await queue.schedule(["held", "waiting", "due"].map((id) => message(id)));
    const { receipts } = await take(queue);
    await queue.release([{ ...receipts[2]! }]);
    await queue.retry([{ ...receipts[1]!, delay: 200 }]);
    await redis.raw.command("DEL", key("stream"));
    expect((await take(queue)).ids).toEqual(["due"]);
    await expect.poll(async () => (await take(queue)).ids, { timeout: 2_000 }).toEqual(["waiting"]);
    // Its lease still stands, and is settled as ever.
    expect(await queue.acknowledge([receipts[0]!])).toEqual(["settled"]);
    expect(await queue.counts()).toMatchObject({ scheduled: 0, due: 0, leased: 2 });
    expect(await redis.raw.command("XLEN", key("stream"))).toBe(2);
  });

  it("the group, it is made again, and has what it had", async () => {
    const queue = open();
    await queue.schedule(["a", "b"].map((id) => message(id)));
    const { receipts } = await take(queue);
    await redis.raw.command("XGROUP", "DESTROY", key("stream"), "punctual");
    expect((await take(queue)).ids).toEqual([]);
    await queue.retry([{ ...receipts[0]!, delay: 0 }]);
    const again = await take(queue);
    expect(again.messages).toMatchObject([{ id: "a", attempt: 2 }]);
    expect(await queue.acknowledge([...again.receipts, receipts[1]!])).toEqual(["settled", "settled"]);
    expect(await redis.raw.command("XLEN", key("stream"))).toBe(0);
    expect(await pending()).toEqual([]);
  });
});

it("The entries of the stream are in due order, with the due time as the first half of their ids", async () => {
  const queue = open();
  const { now } = await take(queue);
  const at = Math.floor(now) + 300;
  await queue.schedule([message("b", { due: { at: at + 5 } }), message("a", { due: { at } })]);
  await expect.poll(async () => (await queue.counts()).due, { timeout: 2_000 }).toBe(2);
  expect((await take(queue)).ids).toEqual(["a", "b"]);
  const entries = (await redis.raw.text("XRANGE", key("stream"), "-", "+")) as [string, string[]][];
  expect(entries.map(([id]) => Number(id.split("-")[0]))).toEqual([at, at + 5]);
});
