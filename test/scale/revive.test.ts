import { afterEach, beforeEach, expect, it } from "vitest";
import { ScaleQueue } from "./scale-queue.js";

let scale: ScaleQueue;
beforeEach(async () => {
  scale = await ScaleQueue.start();
});
afterEach(() => scale[Symbol.asyncDispose]());

const idsOf = (count: number) => Array.from({ length: count }, (_, n) => `m${n}`);

it("20,000 dead letters are revived in one call, each with its attempts counted anew", async () => {
  const { queue } = scale;
  await scale.schedule(0, 20_000, { dueAt: () => 0, bytes: 94 });
  for (let buried = 0; buried < 20_000;) {
    const token = `t${buried}`;
    const { messages, leaseUntil } = await queue.claim({
      limit: 1_000,
      lease: 60_000,
      consumer: "c",
      token,
      attempts: 5,
    });
    expect(messages).not.toEqual([]);
    await queue.bury(messages.map(({ id }) => ({ id, token, leaseUntil, reason: "test" })));
    buried += messages.length;
  }
  expect(await queue.counts()).toMatchObject({ due: 0, dead: 20_000 });

  expect(await queue.revive("all", { delay: 3_600_000 })).toBe(20_000);
  expect(await queue.counts()).toMatchObject({ scheduled: 20_000, dead: 0 });
  const revived = new Map<string, number>();
  let cursor: string | undefined;
  do {
    const page = await queue.list({ state: "scheduled", limit: 1_000, cursor });
    for (const { id, attempt } of page.messages) revived.set(id, attempt);
    cursor = page.cursor;
  } while (cursor !== undefined);
  expect([...revived.keys()].toSorted()).toEqual(idsOf(20_000).toSorted());
  expect(new Set(revived.values())).toEqual(new Set([0]));
  expect(await queue.audit()).toMatchObject({ ok: true });
});
