import { beforeEach, describe, expect, it } from "vitest";
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

const claim = (queue: EngineQueue, token: string) =>
  queue.claim({ limit: 10, lease: 60_000, consumer: "c", token, attempts: 3 });

/** All that is in Redis, but for what our consumers note of themselves. */
async function everything(): Promise<unknown[]> {
  const keys = ((await redis.raw.text("KEYS", "*")) as string[]).filter((key) => !/:punctual:[a-z]+$/.test(key));
  return await Promise.all(keys.toSorted().map(async (key) => [key, await redis.raw.command("DUMP", key)]));
}

describe.each([false, true])("Queues of one name with different prefixes, with a hash tag: %s", (hashTag) => {
  const open = () => ({
    plain: engine({ hashTag }).open("orders"),
    shop: engine({ hashTag, prefix: "shop" }).open("orders"),
  });

  it.each(["keep", "replace"] as const)(
    "an id that one has is refused to the other (%s), with what to do, and nothing changes",
    async (onDuplicate) => {
      const { plain, shop } = open();
      await plain.schedule([newMessage("a", { payload: bytes("plain") })]);
      const before = await everything();
      await expect(shop.schedule([newMessage("a", { payload: bytes("shop"), onDuplicate })])).rejects.toMatchObject({
        code: "misconfigured",
        message: expect.stringMatching(
          /"a" was not stored.*dp:orders\}?:msg:a" is there.*Give this message another id, or the queues different names\.$/,
        ) as unknown,
        details: { id: "a", results: [undefined] },
      });
      expect(await everything()).toEqual(before);
    },
  );

  it("only the one that is taken is refused of many, and each of one tick hears of its own", async () => {
    const { plain } = open();
    await plain.schedule([newMessage("b", { payload: bytes("plain") })]);
    const queue = new Queue<string>("orders", { engine: engine({ hashTag, prefix: "shop" }) });
    const calls = ids(3).map((_, index) => queue.schedule("shop", { delay: 0, id: ["a", "b", "c"][index] }));
    expect((await Promise.allSettled(calls)).map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
    expect(await queue.counts()).toMatchObject({ due: 2 });
    expect(String((await plain.get(["b"]))[0]?.payload)).toBe("plain");
  });

  it("what one has is absent from the other, which can neither read, cancel nor move it", async () => {
    const { plain, shop } = open();
    await plain.schedule([newMessage("a"), newMessage("leased")]);
    const before = await everything();
    expect(await shop.get(["a", "leased"])).toEqual([undefined, undefined]);
    expect(await shop.cancel(["a", "leased"])).toEqual(["absent", "absent"]);
    expect(await shop.reschedule([{ id: "a", due: { delay: 60_000 } }])).toEqual(["absent"]);
    expect(await everything()).toEqual(before);
  });

  it("an id is free for the other when its message is gone", async () => {
    const { plain, shop } = open();
    await plain.schedule([newMessage("a"), newMessage("b")]);
    expect(await plain.cancel(["a"])).toEqual(["cancelled"]);
    const { messages, leaseUntil } = await claim(plain, "t");
    await plain.acknowledge(messages.map(({ id }) => ({ id, token: "t", leaseUntil })));
    const results = await shop.schedule([newMessage("a"), newMessage("b")]);
    expect(results.map(({ outcome }) => outcome)).toEqual(["scheduled", "scheduled"]);
  });

  it.each(["ready", "retry"])("an entry that was left in the list %s takes nothing of the other's", async (list) => {
    const { plain, shop } = open();
    await plain.schedule([newMessage("a", { payload: bytes("plain") })]);
    const name = hashTag ? `{shop:orders}:${list}` : `shop:orders:${list}`;
    await redis.raw.command("LPUSH", name, "a");
    expect((await claim(shop, "t")).messages).toEqual([]);
    await redis.raw.command("LPUSH", name, "a");
    expect(await shop.purge("waiting")).toBe(0);
    expect(String((await claim(plain, "t")).messages[0]?.payload)).toBe("plain");
  });
});

describe("An id whose payload would have the name of", () => {
  // With this prefix the queue's own keys begin as the names of its payloads do.
  const nested = () => engine({ prefix: "dp:orders:msg" }).open("orders");

  it.each([
    "orders:pending",
    "orders:ready",
    "orders:unack",
    "orders:retry",
    "orders:retry:cnt",
    "orders:garbage",
    "orders:punctual:state",
    "orders:punctual:claims",
    "orders:punctual:note:a",
  ])("the queue's own key is refused before anything is written: %s", async (id) => {
    await expect(nested().schedule([newMessage(id)])).rejects.toMatchObject({
      code: "invalid-argument",
      message: `id is "${id}", so its payload would lie in "dp:orders:msg:${id}", which is a key of the queue itself; accepted is another id.`,
      details: { argument: "id", id },
    });
    expect(await redis.raw.text("KEYS", "*")).toEqual([]);
  });

  it("no key is stored with such a prefix as with any other", async () => {
    const queue = nested();
    await queue.schedule([newMessage("orders"), newMessage("pending")]);
    expect((await claim(queue, "t")).messages.map(({ id }) => id)).toEqual(["orders", "pending"]);
  });

  it("another queue's key is refused, absent to every operation, and stays as it is", async () => {
    await engine()
      .open("orders:msg")
      .schedule([newMessage("a"), newMessage("far", { due: { delay: 60_000 } })]);
    const before = await everything();
    const queue = engine().open("orders");
    await expect(queue.schedule([newMessage("pending")])).rejects.toMatchObject({
      code: "misconfigured",
      message: expect.stringContaining('"dp:orders:msg:pending" is there') as unknown,
    });
    expect(await queue.get(["pending"])).toEqual([undefined]);
    expect(await queue.cancel(["pending"])).toEqual(["absent"]);
    expect(await everything()).toEqual(before);
  });
});
