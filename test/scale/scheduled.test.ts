import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ListQuery, StoredMessage } from "../../src/engine.js";
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

/** Pages from here on, with `between` before each. */
async function pages(
  query: Partial<ListQuery>,
  most: number,
  between: () => Promise<unknown>,
): Promise<StoredMessage[]> {
  const found: StoredMessage[] = [];
  let cursor: string | undefined;
  for (let n = 0; n < most; n++) {
    await between();
    const page = await scale.queue.list({ state: "scheduled", limit: 250, ...query, cursor });
    found.push(...page.messages);
    cursor = page.cursor;
    if (cursor === undefined) break;
  }
  return found;
}

const idsFrom = (first: number, count: number) => Array.from({ length: count }, (_, index) => `m${first + index}`);

describe("With 500,000 scheduled messages", () => {
  it.each([
    ["at the beginning", 0],
    ["among 100,000 of one due time", 100_000],
    ["where payloads have 1 KiB", 250_000],
    ["near the end", 490_000],
  ])("list takes no more than 5 ms of Redis for a page %s, and gives them in order", async (_, first) => {
    let found: StoredMessage[] = [];
    const usual = await scale.measure(async (between) => {
      found = await pages({ from: dueAt(first) }, 20, between);
    });
    expect(found.map(({ id }) => id)).toEqual(idsFrom(first, 5_000));
    expect(usual).toBeLessThan(5);
  });

  it("list takes no more than 5 ms deep inside of those that share a due time", async () => {
    let cursor: string | undefined;
    for (let passed = 0; passed < 80_000; passed += 5_000) {
      ({ cursor } = await scale.queue.list({ state: "scheduled", from: dueAt(100_000), limit: 5_000, cursor }));
    }
    const found: StoredMessage[] = [];
    const usual = await scale.measure(async (between) => {
      for (let n = 0; n < 20; n++) {
        await between();
        const page = await scale.queue.list({ state: "scheduled", from: dueAt(100_000), limit: 250, cursor });
        found.push(...page.messages);
        cursor = page.cursor;
      }
    });
    expect(found.map(({ id }) => id)).toEqual(idsFrom(180_000, 5_000));
    expect(usual).toBeLessThan(5);
  });

  it("a list of another state takes no more than 5 ms to say that there are none", async () => {
    const usual = await scale.measure(async (between) => {
      for (const state of ["due", "leased", "dead"] as const) {
        for (let n = 0; n < 10; n++) expect(await pages({ state }, 1, between)).toEqual([]);
      }
    });
    expect(usual).toBeLessThan(5);
  });

  it("get takes no more than 5 ms of Redis, for one and for a thousand with 1 KiB each", async () => {
    const usual = await scale.measure(async (between) => {
      for (let n = 0; n < 30; n++) {
        await between();
        const id = `m${(n * 16_381) % total}`;
        expect(await scale.queue.get([id, "none"])).toMatchObject([{ id, state: "scheduled" }, undefined]);
        const ids = idsFrom(250_000 + n * 100, 1_000);
        expect((await scale.queue.get(ids)).map((message) => message?.payload.length)).toEqual(ids.map(() => 1_024));
      }
    });
    expect(usual).toBeLessThan(5);
  });

  it("counts and get know all of them, and audit finds nothing wrong", async () => {
    expect(await scale.queue.counts()).toMatchObject({ scheduled: total, due: 0, leased: 0, dead: 0 });
    expect(await scale.queue.audit()).toEqual({ ok: true, problems: [], checked: 2 * total });
  }, 40_000);
});
