import { describe, expect, it } from "vitest";
import { Reply } from "../test/support/scripted-queue.js";
import { Batcher } from "./batcher.js";
import { PunctualError } from "./errors.js";
import { manualClock } from "./testing/manual-clock.js";

/** A batcher whose calls wait for the test. */
function heldBatcher(options: { maxItems?: number; weigh?: (item: string) => number } = {}) {
  const clock = manualClock();
  const calls: { items: readonly string[]; reply: Reply<string[]> }[] = [];
  const run = (items: readonly string[]) => {
    const reply = new Reply<string[]>();
    calls.push({ items, reply });
    return reply.promise;
  };
  return { clock, calls, batcher: new Batcher<string, string>(run, { clock, ...options }) };
}

const microtasks = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve();
};

describe("Batcher", () => {
  it("makes one call of the calls of a tick and hands each caller its result", async () => {
    const calls: string[][] = [];
    const batcher = new Batcher<string, string>(
      async (items) => {
        calls.push([...items]);
        return items.map((item) => item.toUpperCase());
      },
      { clock: manualClock() },
    );
    const first = Promise.all(["a", "b", "c"].map((item) => batcher.add(item)));
    expect(calls).toEqual([]);
    expect(await first).toEqual(["A", "B", "C"]);
    expect(await batcher.add("d")).toBe("D");
    expect(calls).toEqual([["a", "b", "c"], ["d"]]);
  });

  it("fills the next batch while one is under way, and starts it when that returns", async () => {
    const { batcher, calls } = heldBatcher();
    const results: Promise<string>[] = [];
    for (const item of ["a", "b", "c"]) {
      results.push(batcher.add(item));
      await microtasks();
    }
    expect(calls.map(({ items }) => items)).toEqual([["a"]]);
    calls[0]?.reply.give(["A"]);
    await microtasks();
    expect(calls.map(({ items }) => items)).toEqual([["a"], ["b", "c"]]);
    calls[1]?.reply.give(["B", "C"]);
    expect(await Promise.all(results)).toEqual(["A", "B", "C"]);
  });

  it("starts one batch when one returns, however many wait", async () => {
    const { batcher, calls } = heldBatcher({ maxItems: 1 });
    for (const item of ["a", "b", "c", "d"]) void batcher.add(item);
    await microtasks();
    expect(calls).toHaveLength(1);
    calls[0]?.reply.give(["A"]);
    await microtasks();
    expect(calls.map(({ items }) => items)).toEqual([["a"], ["b"]]);
  });

  it("lets the next batch go when those before it are stuck for a second", async () => {
    const { batcher, calls, clock } = heldBatcher();
    for (const item of ["a", "b"]) {
      void batcher.add(item);
      await microtasks();
    }
    await clock.advance(999);
    expect(calls).toHaveLength(1);
    await clock.advance(1);
    expect(calls.map(({ items }) => items)).toEqual([["a"], ["b"]]);
  });

  it("counts the time of a call from when it was added: a batch has what is left to the first of its items", async () => {
    const clock = manualClock();
    const ended: { item: string; at: number }[] = [];
    const began = clock.now();
    const batcher = new Batcher<string, string>(
      (_, left) => new Promise((_resolve, reject) => void clock.runAfter(left, () => reject(new Error("too late")))),
      { clock, maxItems: 1, timeout: 10_000 },
    );
    const add = (item: string) => void batcher.add(item).catch(() => ended.push({ item, at: clock.now() - began }));
    for (let item = 0; item < 30; item++) add(`at once ${item}`);
    await clock.advance("2s");
    add("later");
    await clock.advance("1m");
    expect(ended).toHaveLength(31);
    expect(ended.filter(({ item }) => item !== "later").every(({ at }) => at === 10_000)).toBe(true);
    expect(ended.find(({ item }) => item === "later")?.at).toBe(12_000);
  });

  it("has nothing join a batch that has waited for a second, for that would share its time-out", async () => {
    const { batcher, calls, clock } = heldBatcher({ maxItems: 2 });
    void batcher.add("a");
    await microtasks();
    for (const item of ["b", "b", "c"]) void batcher.add(item);
    await clock.advance("1500ms");
    void batcher.add("d");
    await clock.advance("10s");
    expect(calls.map(({ items }) => items)).toEqual([["a"], ["b", "b"], ["c"], ["d"]]);
  });

  it("cuts batches by number and by weight, in the order of the items", async () => {
    const byNumber = heldBatcher({ maxItems: 2 });
    for (const item of ["a", "b", "c"]) void byNumber.batcher.add(item);
    await microtasks();
    byNumber.calls[0]?.reply.give(["", ""]);
    await microtasks();
    expect(byNumber.calls.map(({ items }) => items)).toEqual([["a", "b"], ["c"]]);

    const byWeight = heldBatcher({ weigh: (item) => Number(item) });
    for (const item of ["600000", "400000", "600000", "9000000"]) void byWeight.batcher.add(item);
    for (const answers of [["", ""], [""], [""]]) {
      await microtasks();
      byWeight.calls.at(-1)?.reply.give(answers);
    }
    await microtasks();
    expect(byWeight.calls.map(({ items }) => items)).toEqual([["600000", "400000"], ["600000"], ["9000000"]]);
  });

  it("gives what is known of a batch that failed half-way, and the failure to the others", async () => {
    const { batcher, calls } = heldBatcher();
    const settled = Promise.allSettled(["a", "b"].map((item) => batcher.add(item)));
    await microtasks();
    const details = { results: ["A", undefined], seconds: 10 };
    calls[0]?.reply.fail(new PunctualError("outcome-unknown", "No reply.", { details }));
    const failure = expect.objectContaining({
      code: "outcome-unknown",
      message: "No reply.",
      details: { seconds: 10 },
    });
    expect(await settled).toEqual([
      { status: "fulfilled", value: "A" },
      { status: "rejected", reason: failure },
    ]);
  });

  it("tells listeners instead of promises, each of its item, also of a failure and of an answer that is missing", async () => {
    const { batcher, calls } = heldBatcher();
    const heard: unknown[] = [];
    const listener = (item: string, result: string | undefined, failure: unknown) =>
      heard.push([item, result ?? failure]);
    for (const item of ["a", "b"]) batcher.addFor(item, listener);
    const promised = batcher.add("c");
    await microtasks();
    calls[0]?.reply.give(["A"]);
    await expect(promised).rejects.toThrow(/fewer items/);
    expect(heard).toMatchObject([
      ["a", "A"],
      ["b", { code: "outcome-unknown" }],
    ]);
    batcher.addFor("d", listener);
    await microtasks();
    calls[1]?.reply.fail(new Error("no"));
    await microtasks();
    expect(heard[2]).toEqual(["d", new Error("no")]);
  });

  it("hands on what a run throws at once, and fails callers that got no answer", async () => {
    const clock = manualClock();
    const throwing = new Batcher<string, string>(
      () => {
        throw new TypeError("at once");
      },
      { clock },
    );
    await expect(throwing.add("a")).rejects.toThrow("at once");
    const short = new Batcher<string, string>(async () => ["A"], { clock });
    const [a, b] = await Promise.allSettled([short.add("a"), short.add("b")]);
    expect([a?.status, b?.status]).toEqual(["fulfilled", "rejected"]);
  });
});
