import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import { losingEvaluator } from "../../../../test/support/losing-evaluator.js";
import { PunctualError } from "../../../errors.js";
import type { Evaluator } from "../../../scripting/script.js";
import { purge } from "./purge.js";
import { remove } from "./remove.js";
import { revive } from "./revive.js";

// The connection is cut in the first attempt of each call: after the server ran it, or before. The call is made again.

let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

let operations = 0;
const due = { at: 9e12 };
const name = () => `o${++operations}`;
type Run = (evaluator: Evaluator, queue: RawQueue) => Promise<number>;
const ids = Array.from({ length: 600 }, (_, n) => `m${n}`);
const operationsThatCount: [string, Run][] = [
  ["revive", (evaluator, { keys }) => revive(evaluator, keys, ["absent", ...ids], { due, operation: name() })],
  ["revive of all", (evaluator, { keys }) => revive(evaluator, keys, "all", { due, operation: name() })],
  ["remove", (evaluator, { keys }) => remove(evaluator, keys, ["absent", ...ids], name())],
  ["purge of what is dead", (evaluator, { keys }) => purge(evaluator, keys, "dead", name())],
  ["purge of what waits", (evaluator, { keys }) => purge(evaluator, keys, "waiting", name())],
];

/** 600 dead letters, and for a purge 600 that wait. */
async function filled(): Promise<RawQueue> {
  const queue = bench.queue();
  await Promise.all(
    ids.map(async (id) => {
      await queue.stored(id, {});
      await bench.raw.command("ZADD", queue.keys.dead, 5, id);
      await queue.scheduled(`w${id}`, 8e12);
    }),
  );
  await bench.raw.command("HSET", queue.keys.state, "seq", 1_200);
  return queue;
}

/** An operation of somebody else, which leaves its answer. */
async function another(queue: RawQueue): Promise<void> {
  await queue.stored("other", {});
  await bench.raw.command("ZADD", queue.keys.dead, 8e12, "other");
  expect(await remove(bench.evaluator, queue.keys, ["other"], name())).toBe(1);
}

describe.each(operationsThatCount)("%s", (_, run) => {
  it.each([{ ran: true }, { ran: false }])(
    "counts each once, cut with the first attempt run: $ran",
    async ({ ran }) => {
      const queue = await filled();
      expect(await run(losingEvaluator(bench.evaluator, { ran }), queue)).toBe(600);
      expect(await run(bench.evaluator, queue)).toBe(0);
    },
  );

  it("does not know when another operation has run between the attempts, and says how much is known", async () => {
    const queue = await filled();
    let calls = 0;
    const meanwhile = async () => {
      if (++calls === 3) await another(queue);
    };
    const failure = await run(losingEvaluator(bench.evaluator, { meanwhile }), queue).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(PunctualError);
    expect(failure).toMatchObject({ code: "outcome-unknown", details: { done: expect.any(Number) } });
    const { done } = (failure as PunctualError).details;
    expect(done).toBeGreaterThan(0);
    expect(done).toBeLessThan(600);
  });

  it("is not misled by an operation that ran before", async () => {
    const queue = await filled();
    await another(queue);
    // The clock of an evaluator is at the latest the server's; so that this is of an earlier ms.
    const before = await bench.now();
    while ((await bench.now()) === before);
    expect(await run(losingEvaluator(bench.evaluator, { ran: false }), queue)).toBe(600);
  });

  it("says how much was done before it failed", async () => {
    const queue = await filled();
    let calls = 0;
    const failing: Evaluator = {
      clock: bench.evaluator.clock,
      async evaluate(...call) {
        if (++calls === 3) throw new PunctualError("not-sent", "no connection", { details: { timeout: 5 } });
        return await bench.evaluator.evaluate(...call);
      },
    };
    const failure = await run(failing, queue).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "not-sent", details: { timeout: 5, done: expect.any(Number) } });
    const { details, cause } = failure as PunctualError;
    expect(details["done"]).toBeGreaterThanOrEqual(100);
    expect(cause).toBeUndefined();
  });
});

describe("The answer that is kept", () => {
  it("is one, of bounded size, and only of this operation and call", async () => {
    const queue = await filled();
    await revive(bench.evaluator, queue.keys, ids, { due, operation: "mine" });
    const { answered = "" } = await queue.texts("state");
    expect(answered).toMatch(/^\d+ mine 5 r{100}$/);
    expect(await revive(bench.evaluator, queue.keys, ids, { due, operation: "another" })).toBe(0);
  });
});
