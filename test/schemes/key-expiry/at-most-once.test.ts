import { afterEach, describe, expect, it, vi } from "vitest";
import type { EngineQueue, NewMessage } from "../../../src/engine.js";
import { keyExpiryEngine } from "../../../src/engines/key-expiry/engine.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { withRedis } from "../../support/with-redis.js";

const cluster = withRedis({ args: ["--cluster-enabled", "yes"] });
const redis = withRedis();
const hour = 3_600_000;
const base = "{punctual:q}:key-expiry";

let claims = 0;

const engine = () => closedAtEnd(keyExpiryEngine({ url: redis.url }));
const keys = async () => ((await redis.raw.text("KEYS", "*")) as string[]).toSorted();
const silent = { wake() {}, postpone() {}, interrupted() {}, recovered() {} };

function message(id: string, options: Partial<NewMessage> = {}): NewMessage {
  return { id, payload: Buffer.from(`payload of ${id}`), due: { delay: 0 }, onDuplicate: "keep", ...options };
}

async function take(queue: EngineQueue, limit = 100) {
  const token = `token-${++claims}`;
  const claim = await queue.claim({ limit, lease: 60_000, consumer: "c", token, attempts: 5 });
  const ids = claim.messages.map(({ id }) => id);
  return { ...claim, ids, receipts: ids.map((id) => ({ id, token, leaseUntil: claim.leaseUntil })) };
}

afterEach(async () => {
  vi.restoreAllMocks();
  await redis.raw.command("CONFIG", "SET", "maxmemory", 0);
  await redis.raw.command("ACL", "SETUSER", "default", "+@all");
  await redis.raw.command("FLUSHALL");
});

describe("A queue of key-expiry", () => {
  it("lies under keys of one slot, whatever signs are in the ids, and leaves nothing of a message that is gone", async () => {
    const queue = engine().open("q");
    const watch = await queue.watch("c", silent);
    const ids = ["a", "with {braces}", "colon:s", "\0 and 💥"];
    await queue.schedule(ids.map((id) => message(id, { due: { delay: hour } })));
    await queue.pause();
    const all = [
      ...ids.flatMap((id) => [`${base}:due:${id}`, `${base}:message:${id}`]),
      `${base}:ids`,
      `${base}:state`,
    ];
    expect(await keys()).toEqual(all.toSorted());
    const slots = await Promise.all(all.map((key) => cluster.raw.command("CLUSTER", "KEYSLOT", key)));
    expect(new Set(slots)).toEqual(new Set([await cluster.raw.command("CLUSTER", "KEYSLOT", "punctual:q")]));
    await queue.resume();
    await queue.reschedule(ids.map((id) => ({ id, due: { delay: 0 } })));
    const { receipts } = await take(queue);
    expect(receipts.map(({ id }) => id)).toEqual(ids);
    await queue.retry(receipts.slice(0, 2).map((receipt) => ({ ...receipt, delay: 0 })));
    await queue.acknowledge([...receipts, ...(await take(queue)).receipts]);
    await queue.schedule([message("cancelled"), message("purged")]);
    await queue.cancel(["cancelled"]);
    expect(await queue.purge("waiting")).toBe(1);
    await watch[Symbol.asyncDispose]();
    // The timer of no message expires by itself.
    await expect.poll(keys).toEqual([`${base}:state`]);
  });

  it("has its timers expire when messages are due, not a ms earlier", async () => {
    const [scheduled] = await engine()
      .open("q")
      .schedule([message("a", { due: { delay: 300 } })]);
    const expiry = Number(await redis.raw.command("PEXPIRETIME", `${base}:due:a`));
    // Redis deletes a key when the time is over.
    expect(expiry + 1).toBe(scheduled?.dueAt);
  });

  it("knows its scripts again when the server has forgotten them", async () => {
    const queue = engine().open("q");
    const forget = () => redis.raw.command("SCRIPT", "FLUSH");
    await forget();
    await queue.schedule([message("a"), message("far", { due: { delay: hour } })]);
    await forget();
    const { receipts } = await take(queue);
    await forget();
    expect(await queue.retry(receipts.map((receipt) => ({ ...receipt, delay: 0 })))).toEqual(["settled"]);
    await forget();
    expect((await queue.get(["a", "far"])).map((found) => found?.state)).toEqual(["due", "scheduled"]);
    await forget();
    await queue.pause();
    await forget();
    expect(await queue.counts()).toMatchObject({ due: 1, scheduled: 1, paused: true });
    await forget();
    await queue.resume();
    await forget();
    expect(await queue.reschedule([{ id: "far", due: { delay: 0 } }])).toEqual(["rescheduled"]);
    await forget();
    expect(await queue.cancel(["far"])).toEqual(["cancelled"]);
    await forget();
    expect(await queue.purge("waiting")).toBe(1);
  });

  it("puts back what it holds though Redis is at its memory limit, where a new message is refused", async () => {
    const queue = engine().open("q");
    await queue.schedule(["a", "b"].map((id) => message(id)));
    const { receipts } = await take(queue);
    await redis.raw.command("CONFIG", "SET", "maxmemory", 100_000);
    await expect(queue.schedule([message("new")])).rejects.toMatchObject({ code: "storage-full" });
    expect(await queue.release(receipts)).toEqual(["settled", "settled"]);
    expect((await take(queue)).ids).toEqual(["a", "b"]);
  });

  it("gives up what it holds, and tells it, when another message has taken the id meanwhile", async () => {
    const dropped: unknown[] = [];
    const queue = engine().open("q", { onDropped: (one) => dropped.push(one) });
    await queue.schedule([message("a")]);
    const { receipts } = await take(queue);
    const elsewhere = engine().open("q");
    expect(await elsewhere.schedule([message("a", { payload: Buffer.from("younger") })])).toMatchObject([
      { outcome: "scheduled" },
    ]);
    expect(await queue.retry(receipts.map((receipt) => ({ ...receipt, delay: 0 })))).toEqual(["settled"]);
    expect(dropped).toEqual([{ ids: ["a"], total: 1 }]);
    const { messages } = await take(queue);
    expect(messages.map(({ payload, attempt }) => [String(payload), attempt])).toEqual([["younger", 1]]);
  });

  it("says of a message that this process works on that it is leased, and of one that another does that it is absent", async () => {
    const queue = engine().open("q");
    await queue.schedule([message("a")]);
    await take(queue);
    const asked = async (one: EngineQueue) => [
      ...(await one.cancel(["a"])),
      ...(await one.reschedule([{ id: "a", due: { delay: 0 } }])),
      ...(await one.get(["a"])).map((found) => found?.state),
    ];
    expect(await asked(queue)).toEqual(["leased", "leased", "leased"]);
    expect(await asked(engine().open("q"))).toEqual(["absent", "absent", undefined]);
    expect(await queue.schedule([message("new"), message("a")])).toMatchObject([
      { outcome: "scheduled" },
      { outcome: "duplicate" },
    ]);
  });

  it("counts what this process holds for as long as the leases last", async () => {
    const queue = engine().open("q");
    await queue.schedule([message("a")]);
    await take(queue);
    expect((await queue.counts()).leased).toBe(1);
    const right = queue.clock.now.bind(queue.clock);
    vi.spyOn(queue.clock, "now").mockImplementation(() => right() + 60_001);
    expect((await queue.counts()).leased).toBe(0);
  });

  it("counts and purges each of many messages once", async () => {
    const queue = engine().open("q");
    await queue.schedule(Array.from({ length: 2_600 }, (_, index) => message(`m-${index}`)));
    await queue.schedule([message("far", { due: { delay: hour } })]);
    expect(await queue.counts()).toMatchObject({ due: 2_600, scheduled: 1 });
    expect(await queue.purge("waiting")).toBe(2_601);
    expect(await keys()).toEqual([]);
  });
});
