import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import type { Dropped } from "../../../engine.js";
import { audit } from "./audit.js";
import { bury } from "./bury.js";
import { claim } from "./claim.js";
import type { Bounded } from "./dropped.js";
import { reschedule } from "./reschedule.js";
import { retry } from "./retry.js";

let bench: ScriptBench;
let now: number;
beforeAll(async () => {
  bench = await ScriptBench.start();
  now = await bench.now();
});
afterAll(() => bench[Symbol.asyncDispose]());

const run = (...command: (string | number | Buffer)[]) => bench.raw.command(...command);
const lease = { until: 9e12, due: 5, token: "t", attempts: 1 };
const receipt = (id: string) => ({ id, token: "t", leaseUntil: 9e12 });

/** Dead letters, the first buried first: `age` ms before now, then 1 ms apart. */
async function dead(queue: RawQueue, ids: readonly string[], { age = 60_000, payload = Buffer.alloc(9) } = {}) {
  for (const [n, id] of ids.entries()) {
    await queue.stored(id, { payload });
    await queue.failed(id, 1);
    await run("ZADD", queue.keys.dead, now - age + n, id);
  }
}

const named = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}`);
const left = async (queue: RawQueue) => Object.keys(await queue.scores("dead"));

/** Bounds, and what was told. */
function bounds(given: Partial<Bounded>): Bounded & { told: Dropped[] } {
  const told: Dropped[] = [];
  return { max: undefined, maxAge: undefined, ...given, told, onDropped: (dropped) => void told.push(dropped) };
}

let order = 0;
const taking = ({ keys }: RawQueue, bounded: Bounded, limit = 250) =>
  claim(
    bench.evaluator,
    keys,
    { consumer: `c${++order}`, token: "t", limit, lease: 60_000, attempts: 1, order, returns: false },
    bounded,
  );

const buries: [string, (queue: RawQueue, bounded: Bounded) => Promise<unknown>][] = [
  [
    "bury",
    async (queue, bounded) => {
      await queue.leased("x", lease);
      await bury(bench.evaluator, queue.keys, [{ ...receipt("x"), reason: "r" }], bounded);
    },
  ],
  [
    "retry of the last attempt",
    async (queue, bounded) => {
      await queue.leased("x", lease);
      await retry(bench.evaluator, queue.keys, [{ ...receipt("x"), delay: 0 }], bounded);
    },
  ],
  [
    "claim of what has expired",
    async (queue, bounded) => {
      await queue.scheduled("x", 5, { expiresAt: 6 });
      await taking(queue, bounded);
    },
  ],
  [
    "claim after the last lease has ended",
    async (queue, bounded) => {
      await queue.leased("x", { ...lease, until: now - 1 });
      await taking(queue, bounded);
    },
  ],
  [
    "reschedule after the last lease has ended",
    async (queue, bounded) => {
      await queue.leased("x", { ...lease, until: now - 1 });
      await reschedule(bench.evaluator, queue.keys, [{ id: "x", due: { at: 9e12 } }], bounded);
    },
  ],
];

describe.each(buries)("Dead letters with bounds: a %s", (_, burying) => {
  it("makes the ones that were buried first fall out, counted and told", async () => {
    const queue = bench.queue();
    await dead(queue, ["a", "b", "c"]);
    const bounded = bounds({ max: 3 });
    await burying(queue, bounded);
    expect(await left(queue)).toEqual(["b", "c", "x"]);
    expect(Object.keys(await queue.hash("messages")).toSorted()).toEqual(["b", "c", "x"]);
    expect(Object.keys(await queue.hash("failures")).toSorted()).toEqual(["b", "c", "x"]);
    expect(bounded.told).toEqual([{ ids: ["a"], total: 1 }]);
    expect(await audit(bench.evaluator, queue.keys)).toMatchObject({ ok: true });
  });

  it("makes those that are too old fall out", async () => {
    const queue = bench.queue();
    await dead(queue, ["a", "b"], { age: 60_000 });
    await dead(queue, ["c"], { age: 30_000 });
    await run("HSET", queue.keys.state, "dropped", 40);
    const bounded = bounds({ maxAge: 50_000 });
    await burying(queue, bounded);
    expect(await left(queue)).toEqual(["c", "x"]);
    expect(bounded.told).toEqual([{ ids: ["a", "b"], total: 42 }]);
  });

  it("leaves all without bounds, and tells nothing within them", async () => {
    const queue = bench.queue();
    await dead(queue, ["a", "b", "c"]);
    const bounded = bounds({});
    await burying(queue, bounded);
    await queue.leased("y", lease);
    const wide = bounds({ max: 5, maxAge: 9e6 });
    await bury(bench.evaluator, queue.keys, [{ ...receipt("y"), reason: "r" }], wide);
    expect((await left(queue)).toSorted()).toEqual(["a", "b", "c", "x", "y"]);
    expect([...bounded.told, ...wide.told]).toEqual([]);
    expect((await queue.texts("state"))["dropped"]).toBeUndefined();
  });
});

describe("Dead letters with bounds", () => {
  it("are remembered when they fall out, where that was asked for", async () => {
    const queue = bench.queue();
    await dead(queue, ["a", "b"]);
    await run("HSET", queue.keys.state, "rememberFor", 60_000);
    await taking(queue, bounds({ max: 1 }));
    expect(Object.keys(await queue.scores("gone"))).toEqual(["a"]);
  });

  it("get fewer with each call when there are too many, at most 1,000 in one", async () => {
    const queue = bench.queue();
    const ids = named("m", 1_300);
    await dead(queue, ids);
    const bounded = bounds({ max: 10 });
    // A claim that buries nothing, 400 burials, a claim.
    await taking(queue, bounded);
    expect(await left(queue)).toHaveLength(1_200);
    for (const id of named("x", 400)) await queue.leased(id, lease);
    await bury(
      bench.evaluator,
      queue.keys,
      named("x", 400).map((id) => ({ ...receipt(id), reason: "r" })),
      bounded,
    );
    // In two calls, of which each lets 100 more fall out than it buries.
    expect(await left(queue)).toHaveLength(1_000);
    while ((await left(queue)).length > 10) await taking(queue, bounded);
    expect(bounded.told.map(({ total }) => total).at(-1)).toBe(1_690);
    expect(bounded.told.flatMap((dropped) => dropped.ids).slice(0, 1_300)).toEqual(ids);
    expect(await left(queue)).toEqual(expect.arrayContaining([expect.stringMatching(/^x/)]));
  });

  it("of any size keep to their number in the end: a claim deletes at least as many bytes as it reads", async () => {
    const queue = bench.queue();
    const payload = Buffer.alloc(200_000);
    const bounded = bounds({ max: 2 });
    await dead(queue, ["a", "b"], { payload });
    for (const id of named("x", 20)) await queue.scheduled(id, 5, { payload, attempts: 1 });
    const most: number[] = [];
    for (;;) {
      const { messages } = await taking(queue, bounded);
      if (messages.length === 0) break;
      // Half a budget of 1 MiB.
      expect(messages.length).toBeLessThanOrEqual(3);
      await bury(
        bench.evaluator,
        queue.keys,
        messages.map(({ id }) => ({ ...receipt(id), reason: "r" })),
        bounded,
      );
      most.push((await left(queue)).length);
    }
    expect(Math.max(...most)).toBeLessThanOrEqual(5);
    expect(await left(queue)).toHaveLength(2);
    expect(bounded.told.every(({ ids }) => ids.length <= 2)).toBe(true);
    expect(bounded.told.at(-1)?.total).toBe(20);
  });
});
