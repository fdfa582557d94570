import { describe, expect, it } from "vitest";
import type { EngineQueue } from "../../../src/engine.js";
import { zsetListEngine } from "../../../src/engines/zset-list/engine.js";
import { newMessage } from "../../../src/testing/conformance/stage.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { withRedis } from "../../support/with-redis.js";

const redis = withRedis();
let names = 0;

async function claim(queue: EngineQueue, limit: number, lease = 10_000) {
  const token = `token-${++names}`;
  const { messages, leaseUntil } = await queue.claim({ limit, lease, consumer: "c", token, attempts: 5 });
  const receipts = messages.map(({ id }) => ({ id, token, leaseUntil }));
  return { ids: messages.map(({ id }) => id), receipts };
}

const ids = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `m-${String(from + index).padStart(3, "0")}`);

describe.each([false, true])("While others stand in the list, reliable: %s,", (reliable) => {
  const open = async (count: number) => {
    const queue = closedAtEnd(zsetListEngine({ url: redis.url, reliable })).open(`order-${++names}`);
    await queue.schedule(ids(0, count).map((id) => newMessage(id)));
    return queue;
  };

  it("what is released without a delay is claimed in its place, in front of all that was behind it.", async () => {
    const queue = await open(300);
    const first = await claim(queue, 3);
    expect(first.ids).toEqual(ids(0, 3));
    for (const index of [1, 2, 0])
      expect(await queue.release(first.receipts.slice(index, index + 1))).toEqual(["settled"]);
    expect((await claim(queue, 100)).ids).toEqual(ids(0, 100));
    expect((await claim(queue, 250)).ids).toEqual(ids(100, 300));
  });

  it("what is released keeps its place among others of its time that were claimed meanwhile.", async () => {
    const queue = await open(20);
    const [one, two] = [await claim(queue, 2), await claim(queue, 2)];
    await queue.release(two.receipts);
    const [next] = (await claim(queue, 1)).receipts;
    await queue.release(one.receipts);
    if (next !== undefined) await queue.release([next]);
    expect((await claim(queue, 20)).ids).toEqual(ids(0, 20));
  });
});

it("What is reclaimed is claimed as of the end of its lease, between those in the list", async () => {
  const queue = closedAtEnd(zsetListEngine({ url: redis.url, reliable: true })).open(`order-${++names}`);
  await queue.schedule(ids(0, 4).map((id) => newMessage(id)));
  await claim(queue, 2, 1_000);
  expect(await queue.schedule(ids(4, 6).map((id) => newMessage(id, { due: { delay: 1_100 } })))).toHaveLength(2);
  await expect.poll(async () => (await queue.counts()).due, { interval: 20, timeout: 5_000 }).toBe(6);
  expect((await claim(queue, 9)).ids).toEqual(["m-002", "m-003", "m-000", "m-001", "m-004", "m-005"]);
});
