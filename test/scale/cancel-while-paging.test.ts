import { afterEach, beforeEach, expect, it } from "vitest";
import { ScaleQueue } from "./scale-queue.js";

let scale: ScaleQueue;
beforeEach(async () => {
  scale = await ScaleQueue.start();
});
afterEach(() => scale[Symbol.asyncDispose]());

const idsOf = (count: number) => Array.from({ length: count }, (_, n) => `m${n}`);

it("10,000 messages that are listed, and cancelled while somebody pages, are all visited, once", async () => {
  const { queue } = scale;
  // A hundred at each time, so that pages end inside of them.
  await scale.schedule(0, 10_000, { dueAt: (n) => 4_000_000_000_000 + Math.floor(n / 100), bytes: 94 });
  const visited: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await queue.list({ state: "scheduled", limit: 70, cursor });
    const ids = page.messages.map(({ id }) => id);
    visited.push(...ids);
    // All of a page but its first, also the one that the cursor stands on.
    expect(new Set(await queue.cancel(ids.slice(1)))).toEqual(new Set(ids.length > 1 ? ["cancelled"] : []));
    cursor = page.cursor;
  } while (cursor !== undefined);
  expect(visited).toEqual(idsOf(10_000));
  expect(await queue.counts()).toMatchObject({ scheduled: Math.ceil(10_000 / 70) });
  expect(await queue.audit()).toMatchObject({ ok: true });
});
