import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import { losingEvaluator } from "../../../../test/support/losing-evaluator.js";
import type { NewMessage } from "../../../engine.js";
import { acknowledge } from "./acknowledge.js";
import { cancel } from "./cancel.js";
import { claim } from "./claim.js";
import { schedule } from "./schedule.js";

let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

const hour = 3_600_000;
const message = (id: string, more: Partial<NewMessage> = {}): NewMessage => ({
  id,
  payload: Buffer.from(id),
  due: { at: 9e12 },
  onDuplicate: "keep",
  ...more,
});
const scheduling = ({ keys }: RawQueue, messages: NewMessage[], rememberFor?: number) =>
  schedule(bench.evaluator, keys, messages, { rememberFor });

/** Claims all that is due and acknowledges it; gives the time between which that was. */
async function finish({ keys }: RawQueue): Promise<{ from: number; to: number }> {
  const from = await bench.now();
  const request = { consumer: "c", token: "t", limit: 250, lease: 60_000, attempts: 5, order: 1 };
  const { messages, leaseUntil } = await claim(bench.evaluator, keys, request);
  await acknowledge(
    bench.evaluator,
    keys,
    messages.map(({ id }) => ({ id, token: "t", leaseUntil })),
  );
  return { from, to: await bench.now() };
}

describe("rememberFor", () => {
  it("is not asked for: an id is free as soon as its message is gone, and nothing is kept", async () => {
    const queue = bench.queue();
    await scheduling(queue, [message("a", { due: { at: 0 } }), message("b")]);
    await finish(queue);
    await cancel(bench.evaluator, queue.keys, ["b"]);
    expect(await queue.scores("gone")).toEqual({});
    expect(await scheduling(queue, [message("a"), message("b")])).toEqual([
      { outcome: "scheduled", dueAt: 9e12 },
      { outcome: "scheduled", dueAt: 9e12 },
    ]);
  });

  it("makes a duplicate of what was acknowledged or cancelled, with the time when it went, whoever asked", async () => {
    const queue = bench.queue();
    await scheduling(queue, [message("done", { due: { at: 0 } }), message("cancelled")], hour);
    const { from, to } = await finish(queue);
    await cancel(bench.evaluator, queue.keys, ["cancelled", "never there"]);
    const results = await scheduling(queue, [
      message("done"),
      message("cancelled", { onDuplicate: "replace" }),
      message("never there"),
    ]);
    expect(results.map(({ outcome }) => outcome)).toEqual(["duplicate", "duplicate", "scheduled"]);
    expect(results[0]?.dueAt).toBeGreaterThanOrEqual(from);
    expect(results[0]?.dueAt).toBeLessThanOrEqual(to);
    expect(results[1]?.dueAt).toBeGreaterThanOrEqual(to);
    expect(await queue.schedule()).toEqual([["never there", 9e12]]);
  });

  it("is over at its end, to the ms", async () => {
    const queue = bench.queue();
    await scheduling(queue, [message("other")], hour);
    const now = await bench.now();
    await bench.raw.command("ZADD", queue.keys.gone, now - 1, "over", now + 60_000, "known");
    const results = await scheduling(queue, [message("over"), message("known")]);
    expect(results).toEqual([
      { outcome: "scheduled", dueAt: 9e12 },
      { outcome: "duplicate", dueAt: now + 60_000 - hour },
    ]);
  });

  it("asked for by a schedule holds also for messages that were there, and for duplicates alone", async () => {
    const queue = bench.queue();
    await scheduling(queue, [message("a", { due: { at: 0 } })]);
    expect((await queue.texts("state"))["rememberFor"]).toBeUndefined();
    expect((await scheduling(queue, [message("a")], hour))[0]?.outcome).toBe("duplicate");
    await finish(queue);
    expect((await scheduling(queue, [message("a")], hour))[0]?.outcome).toBe("duplicate");
  });

  it("is the one that was asked for last; a schedule that does not ask leaves it", async () => {
    const queue = bench.queue();
    await scheduling(queue, [message("a")], hour);
    await scheduling(queue, [message("b")], 2 * hour);
    await scheduling(queue, [message("c")]);
    expect((await queue.texts("state"))["rememberFor"]).toBe(String(2 * hour));
    await scheduling(queue, [message("d")], 0.5);
    expect((await queue.texts("state"))["rememberFor"]).toBe("1");
  });

  it("that was shortened never says that a message went later than now", async () => {
    const queue = bench.queue();
    await scheduling(queue, [message("a")], hour);
    await cancel(bench.evaluator, queue.keys, ["a"]);
    const [result] = await scheduling(queue, [message("a")], 1_000);
    const [again] = await scheduling(queue, [message("a")]);
    const now = await bench.now();
    expect([result?.outcome, again?.outcome]).toEqual(["duplicate", "duplicate"]);
    expect(again?.dueAt).toBeLessThanOrEqual(now);
  });

  it("does not keep a dead letter, or one that is leased, from being what it is", async () => {
    const queue = bench.queue();
    await scheduling(queue, [message("x")], hour);
    await queue.leased("a", { until: 9e12, due: 5, token: "t", attempts: 5 });
    await bench.raw.command("ZADD", queue.keys.gone, 9e12, "a");
    expect(await scheduling(queue, [message("a")])).toEqual([{ outcome: "duplicate", dueAt: 5 }]);
  });

  it("forgets twice as many ids that are over as it takes up, at most 1,000 in a call, and no others", async () => {
    const queue = bench.queue();
    const ids = Array.from({ length: 600 }, (_, n) => `m${n}`);
    await scheduling(
      queue,
      ids.map((id) => message(id)),
      hour,
    );
    const old = Array.from({ length: 3_000 }, (_, n) => [n + 1, `old${n}`]).flat();
    await bench.raw.command("ZADD", queue.keys.gone, ...old, 9e12, "known");
    const left = async () => Object.keys(await queue.scores("gone")).filter((id) => id.startsWith("old")).length;
    await cancel(bench.evaluator, queue.keys, ids.slice(0, 3));
    expect(await left()).toBe(2_994);
    await cancel(bench.evaluator, queue.keys, ids.slice(3, 503));
    expect(await left()).toBe(1_994);
    await cancel(bench.evaluator, queue.keys, ids.slice(0, 3));
    expect(await left()).toBe(1_994);
    expect(await queue.scores("gone")).toMatchObject({ known: 9e12, m0: expect.any(Number), m502: expect.any(Number) });
  });
});

describe("rememberFor, when the reply of a schedule is lost,", () => {
  it("calls scheduled what was stored, delivered and acknowledged meanwhile", async () => {
    const queue = bench.queue();
    await scheduling(queue, [message("first")], hour);
    const losing = losingEvaluator(bench.evaluator, { meanwhile: () => finish(queue) });
    const [result] = await schedule(losing, queue.keys, [message("a", { due: { delay: 0 } })], { rememberFor: hour });
    expect(result?.outcome).toBe("scheduled");
    expect(await queue.schedule()).toEqual([["first", 9e12]]);
  });

  it("calls a duplicate what went before the call began", async () => {
    const queue = bench.queue();
    await scheduling(queue, [message("first")], hour);
    const now = await bench.now();
    await bench.raw.command("ZADD", queue.keys.gone, now - 1_000 + hour, "a");
    const [result] = await schedule(losingEvaluator(bench.evaluator), queue.keys, [message("a")]);
    expect(result).toEqual({ outcome: "duplicate", dueAt: now - 1_000 });
  });
});
