import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { EngineQueue } from "../../../src/engine.js";
import { zsetRemoveEngine } from "../../../src/engines/zset-remove/engine.js";
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

async function take(queue: EngineQueue): Promise<string[]> {
  const request = { limit: 100, lease: 60_000, consumer: "c", token: `${++claims}`, attempts: 5 };
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

it("When the connection is lost in the middle, what was confirmed is delivered, and nothing is delivered twice", async () => {
  const queue = open(proxy.url);
  await put(queue, "w1", "w2", "w3", "w4", "w5");
  expect(await take(queue)).toHaveLength(5);
  await put(queue, "a", "b", "c");
  const second = proxy.plan("hold", isCommand("ZREM"), 2);
  const taking = take(queue);
  await second.happened;
  // Its answer comes after that of the first removal, in the same process.
  await queue.counts();
  proxy.cut();
  expect(await taking).toEqual(["a"]);
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

it("Payloads that are the same stay messages of their own", async () => {
  const queue = open(redis.url);
  await put(queue, "a", "b", "c");
  expect(await take(queue)).toEqual(["a", "b", "c"]);
});
