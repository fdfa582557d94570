import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { EngineQueue } from "../../../src/engine.js";
import { delayqueueEngine } from "../../../src/engines/delayqueue/engine.js";
import { delayqueueKeys } from "../../../src/engines/delayqueue/keys.js";
import { ids, newMessage } from "../../../src/testing/conformance/stage.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { withRedis } from "../../support/with-redis.js";
import { layouts } from "./recording.js";

const cluster = withRedis({ args: ["--cluster-enabled", "yes"] });
const redis = withRedis();
beforeAll(async () => {
  await cluster.raw.command("CLUSTER", "ADDSLOTSRANGE", 0, 16_383);
  while (!String(await cluster.raw.text("CLUSTER", "INFO")).includes("cluster_state:ok")) await sleep(10);
});
beforeEach(() => redis.raw.command("FLUSHALL"));

/** Each operation at least once, on messages of all kinds; leaves some of them. */
async function operate(queue: EngineQueue, round = 0): Promise<void> {
  const id = (name: string) => `${name}-${round}`;
  await queue.schedule([
    ...["a", "b", "c", "d"].map((name) => newMessage(id(name), { headers: { version: "1" }, attempts: 3 })),
    newMessage(id("far"), { due: { delay: 60_000 } }),
    newMessage(id("moved"), { due: { delay: 60_000 } }),
  ]);
  const claim = await queue.claim({ limit: 4, lease: 60_000, consumer: "c", token: `t-${round}`, attempts: 3 });
  const [a, b, c, d] = claim.messages.map((one) => ({ id: one.id, token: `t-${round}`, leaseUntil: claim.leaseUntil }));
  await queue.extend([a!], 60_000);
  await queue.acknowledge([a!]);
  await queue.retry([{ ...b!, delay: 0, error: { name: "Error", message: "no" } }]);
  await queue.release([c!]);
  await queue.bury([{ ...d!, reason: "poison" }]);
  await queue.reschedule([{ id: id("moved"), due: { delay: 90_000 } }]);
  await queue.cancel([id("far")]);
  await queue.get([id("b")]);
  await queue.counts();
  await queue.list({ state: "due", limit: 10 });
  await queue.pause();
  await queue.resume();
}

describe("In a Redis Cluster", () => {
  it("all keys lie in one slot with a hash tag and without a prefix, and every operation works.", async () => {
    const queue = closedAtEnd(delayqueueEngine({ url: cluster.url, hashTag: true, reportEvents: true })).open("orders");
    await operate(queue);
    const used = (await cluster.raw.text("KEYS", "*")) as string[];
    expect(used.length).toBeGreaterThan(5);
    const slots = await Promise.all(used.map((key) => cluster.raw.command("CLUSTER", "KEYSLOT", key)));
    expect(new Set(slots)).toEqual(new Set([await cluster.raw.command("CLUSTER", "KEYSLOT", "dp:orders")]));
    expect(await queue.purge("waiting")).toBe(3);
  });

  it.each(Object.entries(layouts).filter(([name]) => name !== "hash-tag"))(
    "the layout %s is refused before anything is written, with the options that would do.",
    async (_, layout) => {
      await cluster.raw.command("FLUSHALL");
      const queue = closedAtEnd(delayqueueEngine({ url: cluster.url, ...layout })).open("orders");
      await expect(queue.schedule([newMessage("a")])).rejects.toMatchObject({
        code: "misconfigured",
        message: expect.stringContaining("{ hashTag: true } and without a prefix") as unknown,
      });
      expect(await cluster.raw.text("KEYS", "*")).toEqual([]);
    },
  );
});

describe("On a single server", () => {
  it.each(Object.entries(layouts))("the layout %s uses no keys but its own.", async (_, layout) => {
    await operate(closedAtEnd(delayqueueEngine({ url: redis.url, ...layout })).open("orders"));
    const keys = delayqueueKeys({ prefix: "dp", hashTag: false, reportEvents: false, ...layout }, "orders");
    const stems = [keys.messages, keys.notes];
    const used = (await redis.raw.text("KEYS", "*")) as string[];
    const known = new Set(Object.values(keys));
    expect(used.filter((key) => !known.has(key) && !stems.some((stem) => key.startsWith(stem)))).toEqual([]);
  });

  it("nothing grows: what is finished leaves no key, and what we note of a message ends by itself.", async () => {
    const queue = closedAtEnd(delayqueueEngine({ url: redis.url })).open("orders");
    const size = async () => Number(await redis.raw.command("DBSIZE"));
    for (let round = 0; round < 30; round++) await operate(queue, round);
    for (const key of (await redis.raw.text("KEYS", "dp:orders:punctual:note:*")) as string[]) {
      expect(await redis.raw.command("PTTL", key)).toBeGreaterThan(0);
    }
    // A program of the Go library that finishes a message knows nothing of our note.
    await redis.raw.command("DEL", "dp:orders:msg:b-0");
    expect(await size()).toBeGreaterThan(60);
    await queue.purge("waiting");
    // The one that was refused and lost its payload is cleaned up by the next claim, as are remains in the garbage.
    await redis.raw.command("SADD", "dp:orders:garbage", ...ids(20));
    await queue.claim({ limit: 10, lease: 60_000, consumer: "c", token: "last", attempts: 3 });
    expect(await redis.raw.text("KEYS", "*")).toEqual(
      expect.arrayContaining(["dp:orders:punctual:claims", "dp:orders:punctual:state"]),
    );
    expect(await size()).toBe(2);
    expect(await redis.raw.command("HLEN", "dp:orders:punctual:claims")).toBe(1);
  });
});

describe("Options", () => {
  it.each([
    [{ prefix: "a{b}" }, "prefix"],
    [{ prefix: "" }, "prefix"],
    [{ ttl: "10ms" }, "ttl"],
    [{ interval: 1 }, "interval"],
    [{ hashTag: "yes" }, "hashTag"],
    [{ reportEvents: 1 }, "reportEvents"],
    [{ hashtag: true }, "options"],
  ])("%j is refused, and %s is named.", (options, argument) => {
    expect(() => delayqueueEngine({ url: redis.url, ...options } as never)).toThrow(
      expect.objectContaining({ code: "invalid-argument", details: expect.objectContaining({ argument }) as unknown }),
    );
  });
});
