import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import { losingEvaluator } from "../../../../test/support/losing-evaluator.js";
import type { DueTime, NewMessage } from "../../../engine.js";
import { PunctualError } from "../../../errors.js";
import type { Evaluator } from "../../../scripting/script.js";
import { reliableKeys } from "../reliable-keys.js";
import { removeDead } from "./cancel.js";
import { claim } from "./claim.js";
import { counts } from "./counts.js";
import { purge } from "./purge.js";
import { revive } from "./revive.js";
import { schedule } from "./schedule.js";
import { settle } from "./settle.js";

const ids = Array.from({ length: 300 }, (_, index) => `m-${index}`);
let bench: ScriptBench;
let names = 0;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

const keysOf = () => reliableKeys(`{p:lost-${++names}}:zset-list:reliable`);
const replacement = (payload: string, due: DueTime): NewMessage => ({
  id: "a",
  payload: Buffer.from(payload),
  due,
  onDuplicate: "replace",
});
const take = async (keys: ReturnType<typeof keysOf>) => {
  const request = { limit: 10, lease: 30_000, consumer: "c", token: `t-${++names}`, attempts: 5, order: ++names };
  const { messages } = (await claim(bench.evaluator, keys, request, "c")).result;
  return messages.map(({ payload }) => String(payload));
};

describe.each<[string, DueTime]>([
  ["a delay", { delay: 0 }],
  ["a point in time", { at: 0 }],
])("A replacement by %s whose reply was lost", (_, due) => {
  it("is called scheduled, though the message that it stored was claimed meanwhile.", async () => {
    const keys = keysOf();
    await schedule(bench.evaluator, keys, [replacement("old", { delay: 60_000 })]);
    const meanwhile = async () => expect(await take(keys)).toEqual(["new"]);
    const results = await schedule(losingEvaluator(bench.evaluator, { meanwhile }), keys, [replacement("new", due)]);
    expect(results.map(({ outcome }) => outcome)).toEqual(["scheduled"]);
    expect(await counts(bench.evaluator, keys)).toMatchObject({ due: 0, scheduled: 0, leased: 1 });
  });

  it("leaves one message, that of the new body, and does not move it again.", async () => {
    const keys = keysOf();
    await schedule(bench.evaluator, keys, [replacement("old", { delay: 60_000 })]);
    const results = await schedule(losingEvaluator(bench.evaluator), keys, [replacement("new", due)]);
    expect(results.map(({ outcome }) => outcome)).toEqual(["scheduled"]);
    expect(await take(keys)).toEqual(["new"]);
  });
});

it("A replacement of which no attempt ran replaces, and one that meets a leased message is told so", async () => {
  const keys = keysOf();
  await schedule(bench.evaluator, keys, [replacement("same", { delay: 60_000 })]);
  const unsent = losingEvaluator(bench.evaluator, { ran: false });
  expect(await schedule(unsent, keys, [replacement("same", { delay: 0 })])).toMatchObject([{ outcome: "replaced" }]);
  expect(await take(keys)).toEqual(["same"]);
  expect(await schedule(unsent, keys, [replacement("other", { delay: 0 })])).toMatchObject([{ outcome: "leased" }]);
});

describe.each<[string, (evaluator: Evaluator, keys: ReturnType<typeof keysOf>) => Promise<number>]>([
  ["revive", (evaluator, keys) => revive(evaluator, keys, ids, { delay: 60_000 })],
  ["revive of all", (evaluator, keys) => revive(evaluator, keys, "all", { delay: 60_000 })],
  ["remove", (evaluator, keys) => removeDead(evaluator, keys, ids)],
  ["purge of what is dead", (evaluator, keys) => purge(evaluator, keys, "dead")],
  ["purge of what waits", (evaluator, keys) => purge(evaluator, keys, "waiting")],
])("%s", (name, run) => {
  // A purge of what waits empties the hands of consumers before.
  const second = name === "purge of what waits" ? 3 : 2;

  /** 300 dead letters or, for a purge of them, 300 that wait: more than one call does. */
  const filled = async () => {
    const keys = keysOf();
    const messages = ids.map((id): NewMessage => ({
      id,
      payload: Buffer.from(id),
      due: { at: 0 },
      onDuplicate: "keep",
    }));
    await schedule(bench.evaluator, keys, messages);
    if (name === "purge of what waits") return keys;
    const request = { limit: 250, lease: 30_000, consumer: "c", attempts: 5, order: ++names };
    for (let buried = 0; buried < ids.length;) {
      const token = `t-${++names}`;
      const { result } = await claim(bench.evaluator, keys, { ...request, token }, "c");
      const burials = result.messages.map(({ id }) => ({ id, token, leaseUntil: result.leaseUntil, reason: "poison" }));
      buried += (await settle(bench.evaluator, keys, "bury", burials)).length;
    }
    return keys;
  };

  it("does not know how many when replies were lost, and says in details.done how many at least.", async () => {
    const keys = await filled();
    let calls = 0;
    // The others are answered.
    const losing = losingEvaluator(bench.evaluator);
    const evaluator: Evaluator = {
      clock: bench.evaluator.clock,
      evaluate: (...call) => (++calls === second ? losing : bench.evaluator).evaluate(...call),
    };
    const failure: unknown = await run(evaluator, keys).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "outcome-unknown", details: { done: expect.any(Number) } });
    const done = failure instanceof PunctualError ? Number(failure.details["done"]) : NaN;
    expect(done).toBeGreaterThan(0);
    expect(done).toBeLessThan(ids.length);
    expect(await run(bench.evaluator, keys)).toBe(0);
  });

  it("says how much was done before it failed.", async () => {
    const keys = await filled();
    let calls = 0;
    const failing: Evaluator = {
      clock: bench.evaluator.clock,
      async evaluate(...call) {
        if (++calls === second) throw new PunctualError("not-sent", "no connection", { details: { timeout: 5 } });
        return await bench.evaluator.evaluate(...call);
      },
    };
    const failure: unknown = await run(failing, keys).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "not-sent", details: { timeout: 5, done: expect.any(Number) } });
    const done = failure instanceof PunctualError ? Number(failure.details["done"]) : NaN;
    expect(done).toBeGreaterThanOrEqual(125);
    expect(await run(bench.evaluator, keys)).toBe(ids.length - done);
  });
});

it.each([["revive"], ["remove"]])("A %s of which no attempt before ran knows how many", async (name) => {
  const keys = keysOf();
  await schedule(bench.evaluator, keys, [replacement("p", { delay: 0 })]);
  const request = { limit: 1, lease: 30_000, consumer: "c", token: "t", attempts: 5, order: ++names };
  const { leaseUntil } = (await claim(bench.evaluator, keys, request, "c")).result;
  await settle(bench.evaluator, keys, "bury", [{ id: "a", token: "t", leaseUntil, reason: "poison" }]);
  const unsent = losingEvaluator(bench.evaluator, { ran: false });
  const run = name === "revive" ? revive(unsent, keys, ["a"], { delay: 0 }) : removeDead(unsent, keys, ["a"]);
  expect(await run).toBe(1);
});
