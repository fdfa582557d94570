import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import { losingEvaluator } from "../../../../test/support/losing-evaluator.js";
import type { DueTime, NewMessage } from "../../../engine.js";
import { reliableKeys } from "../reliable-keys.js";
import { claim } from "./claim.js";
import { counts } from "./counts.js";
import { schedule } from "./schedule.js";

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
  const request = { limit: 10, lease: 30_000, consumer: "c", token: `t-${++names}`, attempts: 5 };
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
