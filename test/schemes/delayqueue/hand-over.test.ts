import { beforeEach, describe, expect, it } from "vitest";
import type { EngineQueue } from "../../../src/engine.js";
import { delayqueueEngine } from "../../../src/engines/delayqueue/engine.js";
import { Queue } from "../../../src/queue.js";
import { bytes, ids, newMessage } from "../../../src/testing/conformance/stage.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { withRedis } from "../../support/with-redis.js";
import { GoLibrary } from "./go-library.js";
import { keysIn } from "./recording.js";

const redis = withRedis();
beforeEach(() => redis.raw.command("FLUSHALL"));

const engine = () => closedAtEnd(delayqueueEngine({ url: redis.url }));

async function take(queue: EngineQueue, token: string, lease = 60_000) {
  const claim = await queue.claim({ limit: 10, lease, consumer: "c", token, attempts: 5 });
  return { ...claim, receipts: claim.messages.map(({ id }) => ({ id, token, leaseUntil: claim.leaseUntil })) };
}

/** Rounds of the library until it took something. */
async function ticked(go: GoLibrary): Promise<[string, string | null][]> {
  let taken: [string, string | null][] = [];
  await expect.poll(async () => (taken = await go.tick()).length, { timeout: 5_000, interval: 20 }).toBeGreaterThan(0);
  return taken;
}

/** What is there in a form that the library does not write: other types, counts that are no whole numbers, payloads for ever. */
async function unreadable(): Promise<string[]> {
  const types: Record<string, string> = {
    pending: "zset",
    ready: "list",
    unack: "zset",
    retry: "list",
    garbage: "set",
  };
  return (await keysIn(redis.raw)).flatMap(({ key, type, value, pttlMs }) => {
    if (key.startsWith("dp:orders:msg:")) return type === "string" && pttlMs > 0 ? [] : [key];
    if (key === "dp:orders:retry:cnt")
      return Object.values(value as object).every((count) => /^\d+$/.test(count)) ? [] : [key];
    if (types[key.slice("dp:orders:".length)] !== type) return [`${key}: ${type}`];
    // A score of ours has a fraction, or it would be read as the whole of its second.
    return type === "zset"
      ? (value as [string, number][]).filter(([, score]) => score % 1 === 0).map(([id]) => `${key}: ${id}`)
      : [];
  });
}

describe("What we leave a program of the Go library can read and finish:", () => {
  const phases: Record<string, (queue: EngineQueue) => Promise<unknown>> = {
    "a message that is due": (queue) => queue.schedule([newMessage("a")]),
    "one that has its own limit, headers and end": (queue) =>
      queue.schedule([newMessage("a", { attempts: 9, headers: { version: "1" }, expiresIn: 60_000 })]),
    "one that was replaced": async (queue) => {
      await queue.schedule([newMessage("a", { payload: bytes("old"), due: { delay: 60_000 } })]);
      await queue.schedule([newMessage("a", { onDuplicate: "replace" })]);
    },
    "one that was rescheduled": async (queue) => {
      await queue.schedule([newMessage("a", { due: { delay: 60_000 } })]);
      await queue.reschedule([{ id: "a", due: { delay: 0 } }]);
    },
    "one whose lease has ended": async (queue) => {
      await queue.schedule([newMessage("a")]);
      await take(queue, "one", 1_000);
    },
    "one that was refused": async (queue) => {
      await queue.schedule([newMessage("a")]);
      await queue.retry((await take(queue, "one")).receipts.map((receipt) => ({ ...receipt, delay: 0 })));
    },
    "one that was retried with a delay": async (queue) => {
      await queue.schedule([newMessage("a")]);
      await queue.retry((await take(queue, "one")).receipts.map((receipt) => ({ ...receipt, delay: 50 })));
    },
    "one that was released": async (queue) => {
      await queue.schedule([newMessage("a")]);
      await queue.release((await take(queue, "one")).receipts);
    },
    "one whose lease was extended, and then ended": async (queue) => {
      await queue.schedule([newMessage("a")]);
      await queue.extend((await take(queue, "one")).receipts, 1_000);
    },
  };

  it.each(Object.entries(phases))("%s.", async (_, leave) => {
    const queue = engine().open("orders");
    const go = new GoLibrary(redis.raw);
    await leave(queue);
    expect(await unreadable()).toEqual([]);
    expect(await ticked(go)).toEqual([["a", "payload of a"]]);
    // While it works on it, the message is not ours, and we say so.
    expect((await take(queue, "late")).messages).toEqual([]);
    expect(await queue.cancel(["a"])).toEqual(["leased"]);
    expect((await queue.get(["a"]))[0]?.state).toBe("leased");
    await go.acknowledge("a");
    expect(await keysIn(redis.raw)).toEqual([]);
    expect(await queue.counts()).toEqual({ scheduled: 0, due: 0, leased: 0, dead: 0, paused: false });
    expect((await queue.schedule([newMessage("a")]))[0]?.outcome).toBe("scheduled");
  });
});

describe("What a program of the Go library has taken over", () => {
  it("is its own: what we do about it later is lease-lost and changes nothing.", async () => {
    const queue = engine().open("orders");
    const go = new GoLibrary(redis.raw);
    await queue.schedule([newMessage("a")]);
    const { receipts } = await take(queue, "one", 1_000);
    expect(await ticked(go)).toEqual([["a", "payload of a"]]);
    const before = await redis.raw.text("ZSCORE", "dp:orders:unack", "a");
    expect([
      ...(await queue.acknowledge(receipts)),
      ...(await queue.retry(receipts.map((receipt) => ({ ...receipt, delay: 0 })))),
      ...(await queue.release(receipts)),
      ...(await queue.bury(receipts.map((receipt) => ({ ...receipt, reason: "poison" })))),
      ...(await queue.extend(receipts, 60_000)).map(({ outcome }) => outcome),
    ]).toEqual(Array(5).fill("lease-lost"));
    expect(await redis.raw.text("ZSCORE", "dp:orders:unack", "a")).toBe(before);
    expect(await redis.raw.text("GET", "dp:orders:msg:a")).toBe("payload of a");
  });
});

describe("What a program of the Go library left we finish:", () => {
  it("a consumer that waits finds what it sent, and not before the end of its second.", async () => {
    const go = new GoLibrary(redis.raw);
    const delivered: [string, number][] = [];
    const consumer = closedAtEnd(
      new Queue<string>("orders", { engine: engine() }).consume((message) => {
        delivered.push([message.payload, Date.now() - message.dueAt.getTime()]);
      }),
    );
    await expect.poll(() => consumer.health().state).toBe("running");
    const sentAt = Date.now();
    await go.send("a", '"hello"', 700);
    await expect.poll(() => delivered.length, { timeout: 4_000 }).toBe(1);
    expect(Date.now()).toBeGreaterThanOrEqual(sentAt + 700);
    expect(delivered[0]?.[0]).toBe("hello");
    expect(delivered[0]?.[1]).toBeLessThan(1_000 + 200);
  });

  it("one that it took and never settled comes to us at the end of its lease, with a retry fewer.", async () => {
    const queue = engine().open("orders");
    const go = new GoLibrary(redis.raw, { consumeSeconds: 1 });
    await go.send("a", "x", 0, 2);
    expect(await ticked(go)).toEqual([["a", "x"]]);
    const ended = Number(await redis.raw.text("ZSCORE", "dp:orders:unack", "a")) * 1000;
    let claim = await take(queue, "one");
    for (let round = 0; claim.messages.length === 0; round++) claim = await take(queue, `two-${round}`);
    expect(claim.now).toBeGreaterThanOrEqual(ended);
    expect(claim.messages.map(({ id, attempt, attempts, dueAt }) => [id, attempt, attempts, dueAt])).toEqual([
      ["a", 2, 3, ended],
    ]);
    expect(await redis.raw.text("HGET", "dp:orders:retry:cnt", "a")).toBe("1");
  });

  it("one that it refused comes to us at once, and one out of retries is deleted and told.", async () => {
    const queue = engine().open("orders");
    const go = new GoLibrary(redis.raw);
    await go.send("a", "x", 0, 1);
    await go.send("b", "y", 0, 0);
    expect((await ticked(go)).map(([id]) => id).toSorted()).toEqual(["a", "b"]);
    await go.refuse("a");
    await go.refuse("b");
    const { messages, buried } = await take(queue, "one");
    expect(messages.map(({ id, attempts }) => [id, attempts])).toEqual([["a", 2]]);
    expect(buried).toEqual([{ id: "b", reason: "attempts" }]);
    expect((await keysIn(redis.raw)).map(({ key }) => key)).toEqual([
      "dp:orders:msg:a",
      "dp:orders:retry:cnt",
      "dp:orders:unack",
    ]);
  });

  it("those that wait are listed page by page, in any number in one second; those in its lists are refused.", async () => {
    const queue = engine().open("orders");
    const go = new GoLibrary(redis.raw);
    const all = ids(25);
    for (const id of all) await go.send(id, "x", 3_600_000);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await queue.list({ state: "scheduled", limit: 7, cursor });
      seen.push(...page.messages.map(({ id }) => id));
      // The one behind which the next page begins need not be there any more.
      await queue.cancel(seen.slice(-1));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen.toSorted()).toEqual(all.toSorted());
    await queue.purge("waiting");
    await go.send("due", "x", -1_000);
    expect((await queue.list({ state: "due", limit: 7 })).messages.map(({ id }) => id)).toEqual(["due"]);
    await redis.raw.command("LPUSH", "dp:orders:ready", "listed");
    await expect(queue.list({ state: "due", limit: 7 })).rejects.toMatchObject({
      code: "unsupported",
      message:
        "The engine delayqueue cannot list what is due: a program of the Go library moved it to a list of ids alone, and each message that is taken shifts the rest. The engine redis can.",
    });
  });

  it("both sides together finish each message once.", async () => {
    const queue = engine().open("orders");
    const go = new GoLibrary(redis.raw);
    const done: string[] = [];
    for (let index = 0; index < 40; index++) {
      if (index % 2 === 0) await go.send(`go-${index}`, "x", index * 20);
      else await queue.schedule([newMessage(`ours-${index}`, { due: { delay: index * 20 } })]);
    }
    let round = 0;
    const both = async () => {
      for (const [id] of await go.tick()) {
        await go.acknowledge(id);
        done.push(id);
      }
      const { receipts } = await take(queue, `both-${++round}`);
      expect(new Set(await queue.acknowledge(receipts))).toEqual(new Set(receipts.length > 0 ? ["settled"] : []));
      done.push(...receipts.map(({ id }) => id));
      return done.length;
    };
    await expect.poll(both, { timeout: 5_000, interval: 20 }).toBe(40);
    expect(new Set(done).size).toBe(40);
    expect(await keysIn(redis.raw)).toEqual([]);
  });
});
