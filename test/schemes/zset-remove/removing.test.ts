import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { EngineQueue } from "../../../src/engine.js";
import { zsetRemoveEngine } from "../../../src/engines/zset-remove/engine.js";
import { Queue } from "../../../src/index.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { FaultProxy, isCommand } from "../../support/fault-proxy.js";
import { withRedis } from "../../support/with-redis.js";

const redis = withRedis();
let proxy: FaultProxy;
let claims = 0;

beforeAll(async () => {
  proxy = await FaultProxy.start(redis.server.port);
});
afterAll(() => proxy[Symbol.asyncDispose]());
afterEach(() => redis.raw.command("FLUSHALL"));

const open = (url: string): EngineQueue => closedAtEnd(zsetRemoveEngine({ url })).open("q");

async function put(queue: EngineQueue, ...ids: string[]): Promise<void> {
  const payload = Buffer.from("x");
  await queue.schedule(ids.map((id) => ({ id, payload, due: { delay: 0 }, onDuplicate: "keep" })));
}

async function take(queue: EngineQueue, token = `${++claims}`, limit = 100): Promise<string[]> {
  const request = { limit, lease: 60_000, consumer: "c", token, attempts: 5 };
  return (await queue.claim(request)).messages.map(({ id }) => id);
}

it("What somebody else removed between the reading and the removing is not delivered", async () => {
  const [slow, fast] = [open(proxy.url), open(redis.url)];
  await put(fast, "a");
  const removal = proxy.plan("hold", isCommand("ZREM"));
  const taking = take(slow);
  await removal.happened;
  expect(await take(fast)).toEqual(["a"]);
  await put(fast, "b");
  removal.release();
  expect(await taking).toEqual(["b"]);
});

it("When the connection is lost in the middle the claim says so, what was confirmed is delivered when it is repeated, and nothing twice", async () => {
  const queue = open(proxy.url);
  await put(queue, "w1", "w2", "w3", "w4", "w5");
  expect(await take(queue)).toHaveLength(5);
  await put(queue, "a", "b", "c");
  const second = proxy.plan("hold", isCommand("ZREM"), 2);
  const taking = take(queue, "cut");
  await second.happened;
  // Its answer comes after that of the first removal, in the same process.
  await queue.counts();
  proxy.cut();
  await expect(taking).rejects.toMatchObject({ code: "outcome-unknown" });
  expect(await take(queue, "cut")).toEqual(["a"]);
  expect(await take(queue)).not.toContain("a");
});

it("When every reply of the removals is lost the claim fails with outcome-unknown, and what was removed does not come back", async () => {
  const queue = open(proxy.url);
  await put(queue, "a");
  const lost = proxy.plan("cut-before-reply", isCommand("ZREM"));
  await expect(take(queue)).rejects.toMatchObject({ code: "outcome-unknown" });
  await lost.happened;
  expect(await take(queue)).toEqual([]);
});

it("What earlier pieces of a claim removed is delivered when every reply of a later piece is lost, and the claim says so", async () => {
  const queue = open(proxy.url);
  const ids = Array.from({ length: 150 }, (_, index) => `m-${100 + index}`);
  await put(queue, ...ids);
  const lost = proxy.plan("cut-before-reply", isCommand("ZREM"), 101);
  await expect(take(queue, "pieces", 200)).rejects.toMatchObject({ code: "outcome-unknown" });
  await lost.happened;
  expect(await take(queue, "pieces", 200)).toEqual(ids.slice(0, 100));
  const later = await take(queue, undefined, 200);
  expect(new Set([...ids.slice(0, 101), ...later]).size).toBe(101 + later.length);
});

it("What a claim gave up before it failed is told when it is repeated", async () => {
  const queue = open(proxy.url);
  const [old] = await queue.schedule([
    { id: "old", payload: Buffer.from("x"), due: { delay: 0 }, expiresIn: 1, onDuplicate: "keep" },
  ]);
  await put(queue, ...Array.from({ length: 150 }, (_, index) => `m-${100 + index}`));
  await new Promise<void>((resolve) => queue.clock.runAt((old?.dueAt ?? Infinity) + 2, resolve));
  const lost = proxy.plan("cut-before-reply", isCommand("ZREM"), 101);
  const claim = () => queue.claim({ limit: 200, lease: 60_000, consumer: "c", token: "given up", attempts: 5 });
  await expect(claim()).rejects.toMatchObject({ code: "outcome-unknown" });
  await lost.happened;
  expect(await claim()).toMatchObject({ buried: [{ id: "old", reason: "expired" }] });
});

it("A claim whose removals are refused for a part delivers the others at once, and what was refused stays", async () => {
  const queue = open(proxy.url);
  await put(queue, "a", "b");
  const held = proxy.plan("hold", isCommand("ZREM"), 2);
  const taking = take(queue);
  await held.happened;
  await redis.raw.command("ACL", "SETUSER", "default", "-zrem");
  held.release();
  expect(await taking).toEqual(["a"]);
  await redis.raw.command("ACL", "SETUSER", "default", "+zrem");
  expect(await take(queue)).toEqual(["b"]);
});

it("What was removed and lost its reply is counted as given up, and a consumer is told; all else is delivered", async () => {
  await using engine = zsetRemoveEngine({ url: proxy.url });
  const queue = new Queue<string>("consumed", { engine });
  const [delivered, dropped]: string[][] = [[], []];
  const consumer = queue.consume(async ({ id }) => void delivered?.push(id), { concurrency: 5 });
  consumer.on("dropped", ({ ids }) => dropped?.push(...ids));
  await expect.poll(() => consumer.health().state).toBe("running");
  const lost = proxy.plan("cut-before-reply", isCommand("ZREM"));
  await queue.scheduleMany(["a", "b", "c"].map((id) => ({ payload: id, id, delay: 100 })));
  await lost.happened;
  await expect
    .poll(() => [...(delivered ?? []), ...(dropped ?? [])].toSorted(), { timeout: 5_000 })
    .toEqual(["a", "b", "c"]);
  expect(dropped).toContain("a");
  await consumer.close();
});

it("Payloads that are the same stay messages of their own", async () => {
  const queue = open(redis.url);
  await put(queue, "a", "b", "c");
  expect(await take(queue)).toEqual(["a", "b", "c"]);
});
