import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ScaleQueue } from "./scale-queue.js";

let scale: ScaleQueue;
beforeEach(async () => {
  scale = await ScaleQueue.start();
});
afterEach(() => scale[Symbol.asyncDispose]());

const total = 20_000;

/** Lists all of a state in pages of 1,000, and says what Redis worked for a script; `between` runs after each page. */
async function pages(state: "due" | "dead", between: (page: number) => Promise<unknown> = async () => {}) {
  const found: string[] = [];
  const works: number[] = [];
  let cursor: string | undefined;
  do {
    const listed = async () => {
      const { messages, cursor: next } = await scale.queue.list({ state, limit: 1_000, cursor });
      found.push(...messages.map(({ id }) => id));
      cursor = next;
    };
    works.push(await scale.work([listed]));
    await between(works.length);
  } while (cursor !== undefined);
  return { found, work: Math.max(...works) };
}

describe("With 20,000 leases that ended in one ms", () => {
  const scheduled = Array.from({ length: total }, (_, n) => `m${n}`);
  beforeEach(() => scale.schedule(0, total, { dueAt: () => 0, bytes: 94 }));

  it.each([
    ["due", 5, scheduled],
    ["dead", 1, scheduled.toSorted()],
  ] as const)(
    "list gives what is %s since then in order, and no script works on more than 1,000 or for 5 ms",
    async (state, attempts, order) => {
      await scale.endLeases(total, attempts);
      const named = await scale.named(() => scale.queue.list({ state, limit: 125 }));
      expect(Math.max(...named)).toBeGreaterThanOrEqual(125);
      expect(Math.max(...named)).toBeLessThanOrEqual(1_000);
      const { found, work } = await pages(state);
      expect(found).toEqual(order);
      expect(work).toBeLessThan(5);
    },
    60_000,
  );

  it("list gives each once while they are reclaimed", async () => {
    await scale.endLeases(total, 5);
    const { found } = await pages("due", async (page) => {
      // 125 each, the first by id, whether they were listed before or are to be listed.
      for (let n = 0; n < 5; n++)
        await scale.queue.claim({ limit: 0, lease: 1_000, consumer: "c", token: `r${page}-${n}`, attempts: 5 });
    });
    expect(found).toEqual(scheduled);
    expect(await scale.queue.audit()).toMatchObject({ ok: true });
  }, 60_000);

  it("list finds its way through them when they lie among others, and to what is due later", async () => {
    const end = await scale.endLeases(total - 1_000, 5);
    const late = total - 1_000;
    await scale.queue.cancel(scheduled.slice(late));
    await scale.schedule(total, total + 1_000, { dueAt: () => 0, bytes: 94 });
    await scale.queue.reschedule(scheduled.slice(0, 300).map((id) => ({ id, due: { delay: 0 } })));
    expect(end).toBeGreaterThan(0);
    const { found } = await pages("due");
    const fresh = Array.from({ length: 1_000 }, (_, n) => `m${total + n}`);
    expect(found).toEqual([...scheduled.slice(300, late), ...fresh, ...scheduled.slice(0, 300)]);
  }, 60_000);
});
