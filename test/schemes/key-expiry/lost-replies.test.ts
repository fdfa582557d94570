import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { EngineQueue } from "../../../src/engine.js";
import { keyExpiryEngine } from "../../../src/engines/key-expiry/engine.js";
import { sources } from "../../../src/engines/key-expiry/scripts/sources.generated.js";
import { Queue } from "../../../src/index.js";
import { defineScript } from "../../../src/scripting/script.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { FaultProxy, runs } from "../../support/fault-proxy.js";
import { withRedis } from "../../support/with-redis.js";

const redis = withRedis();
const takes = runs(defineScript("take", sources.take));
const silent = { wake() {}, postpone() {}, interrupted() {}, recovered() {} };
let proxy: FaultProxy;

beforeAll(async () => {
  proxy = await FaultProxy.start(redis.server.port);
  // So that each call is one request.
  await redis.raw.command("SCRIPT", "LOAD", sources.take);
});
afterAll(() => proxy[Symbol.asyncDispose]());
afterEach(() => redis.raw.command("FLUSHALL"));

/**
 * A queue with due messages and a consumer that has heard of none: its first claim reads their ids with the first call, and asks
 * for 250 of them with each that follows. And what it was told to have given up.
 */
async function holding(ids: readonly string[]) {
  const dropped: unknown[] = [];
  const queue = closedAtEnd(keyExpiryEngine({ url: proxy.url })).open("q", { onDropped: (one) => dropped.push(one) });
  await queue.schedule(ids.map((id) => ({ id, payload: Buffer.from("x"), due: { delay: 0 }, onDuplicate: "keep" })));
  await queue.watch("c", silent);
  return { queue, dropped };
}

async function take(queue: EngineQueue, token: string, limit = 100, lease = 60_000): Promise<string[]> {
  const request = { limit, lease, consumer: "c", token, attempts: 5 };
  return (await queue.claim(request)).messages.map(({ id }) => id);
}

it("What was taken with a reply that was lost is counted as given up and named, and the claim fails with outcome-unknown", async () => {
  const { queue, dropped } = await holding(["a", "b", "é 💥"]);
  const lost = proxy.plan("cut-before-reply", takes, 2);
  await expect(take(queue, "cut", 2)).rejects.toMatchObject({
    code: "outcome-unknown",
    details: { lost: ["a", "b"] },
  });
  await lost.happened;
  expect(dropped).toEqual([{ ids: ["a", "b"], total: 2 }]);
  expect(await take(queue, "cut", 2)).toEqual(["é 💥"]);
});

it("Nothing is told when the call that was cut had not run: it is made again, and takes", async () => {
  const { queue, dropped } = await holding(["a"]);
  const unsent = proxy.plan("cut-before-request", takes, 2);
  const first = await take(queue, "cut");
  await unsent.happened;
  expect([...first, ...(await take(queue, "next"))]).toEqual(["a"]);
  expect(dropped).toEqual([]);
});

// A lost reply is waited for until no attempt of its call can run any more, 2 s: longer than the short lease.
it.each([
  ["is delivered", 60_000],
  ["is held for all of its lease, however short,", 1_000],
])("What earlier calls of a claim took %s when a later one lost its reply, and that is told", async (_, lease) => {
  const ids = Array.from({ length: 300 }, (_, index) => `m-${index}`);
  const { queue, dropped } = await holding(ids);
  const lost = proxy.plan("cut-before-reply", takes, 3);
  await expect(take(queue, "cut", 300, lease)).rejects.toMatchObject({ code: "outcome-unknown" });
  await lost.happened;
  const delivered = await take(queue, "cut", 300, lease);
  expect(delivered).toHaveLength(250);
  const told = dropped.flatMap((one) => (one as { ids: string[] }).ids);
  expect([...delivered, ...told].toSorted()).toEqual(ids.toSorted());
});

it("A consumer is told what was lost, and leaves nothing of itself in Redis", async () => {
  await using engine = keyExpiryEngine({ url: proxy.url });
  const queue = new Queue<string>("consumed", { engine });
  const [delivered, dropped]: [string[], string[]] = [[], []];
  const consumer = queue.consume(async ({ id }) => void delivered.push(id));
  consumer.on("dropped", ({ ids }) => dropped.push(...ids));
  await expect.poll(() => consumer.health().state).toBe("running");
  const lost = proxy.plan("cut-before-reply", takes);
  await queue.schedule("x", { id: "a", delay: 50 });
  await lost.happened;
  await expect.poll(() => dropped, { timeout: 5_000 }).toEqual(["a"]);
  await queue.schedule("x", { id: "b", delay: 50 });
  await expect.poll(() => delivered, { timeout: 5_000 }).toEqual(["b"]);
  await consumer.close();
  expect(await redis.raw.command("EXISTS", "{punctual:consumed}:key-expiry:claims")).toBe(0);
});
