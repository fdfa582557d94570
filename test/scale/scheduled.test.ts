import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ListQuery } from "../../src/engine.js";
import { ScaleQueue } from "./scale-queue.js";

const total = 500_000;
/** The first one's due time; each next one is a ms later, but for those that share theirs. */
const begin = 4_000_000_000_000;
const dueAt = (n: number) => (n >= 100_000 && n < 200_000 ? begin + 100_000 : begin + n);

let scale: ScaleQueue;
beforeAll(async () => {
  scale = await ScaleQueue.start();
  await scale.schedule(0, 250_000, { dueAt, bytes: 94 });
  await scale.schedule(250_000, 255_000, { dueAt, bytes: 1_024 });
  await scale.schedule(255_000, total, { dueAt, bytes: 94 });
}, 60_000);
afterAll(() => scale[Symbol.asyncDispose]());

const idsFrom = (first: number, count: number) => Array.from({ length: count }, (_, index) => `m${first + index}`);
const times = <Value>(count: number, make: (n: number) => Value) => Array.from({ length: count }, (_, n) => make(n));

/** What Redis worked for a page of 250, and what was on 20 of them. */
async function pages(query: Partial<ListQuery>): Promise<{ found: string[]; work: number }> {
  const found: string[] = [];
  let { cursor } = query;
  const work = await scale.work(
    times(20, () => async () => {
      const page = await scale.queue.list({ state: "scheduled", limit: 250, ...query, cursor });
      found.push(...page.messages.map(({ id }) => id));
      cursor = page.cursor;
    }),
  );
  return { found, work };
}

describe("With 500,000 scheduled messages", () => {
  it.each([
    ["at the beginning", 0],
    ["among 100,000 of one due time", 100_000],
    ["where payloads have 1 KiB", 250_000],
    ["near the end", 490_000],
  ])("list takes no more than 5 ms of Redis for a page %s, and gives them in order", async (_, first) => {
    const { found, work } = await pages({ from: dueAt(first) });
    expect(found).toEqual(idsFrom(first, 5_000));
    expect(work).toBeLessThan(5);
  });

  it("list takes no more than 5 ms deep inside of those that share a due time", async () => {
    const from = dueAt(100_000);
    let cursor: string | undefined;
    for (let passed = 0; passed < 80_000; passed += 5_000) {
      ({ cursor } = await scale.queue.list({ state: "scheduled", from, limit: 5_000, cursor }));
    }
    const { found, work } = await pages({ from, cursor });
    expect(found).toEqual(idsFrom(180_000, 5_000));
    expect(work).toBeLessThan(5);
  });

  it.each(["due", "leased", "dead"] as const)("list takes no more than 5 ms to say that none is %s", async (state) => {
    const { found, work } = await pages({ state });
    expect(found).toEqual([]);
    expect(work).toBeLessThan(5);
  });

  it("get takes no more than 5 ms of Redis, for one and for 1,000 with 1 KiB each", async () => {
    const one = await scale.work(
      times(20, (n) => async () => {
        const id = `m${(n * 16_381) % total}`;
        expect(await scale.queue.get([id, "none"])).toMatchObject([{ id, state: "scheduled" }, undefined]);
      }),
    );
    const many = await scale.work(
      times(20, (n) => async () => {
        const found = await scale.queue.get(idsFrom(250_000 + n * 100, 1_000));
        expect(found.map((message) => message?.payload.length)).toEqual(found.map(() => 1_024));
      }),
    );
    expect(one).toBeLessThan(5);
    expect(many).toBeLessThan(5);
  });

  it("counts knows all of them", async () => {
    expect(await scale.queue.counts()).toMatchObject({ scheduled: total, due: 0, leased: 0, dead: 0 });
  });
});
