import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import type { NewMessage } from "../../../engine.js";
import type { Evaluator } from "../../../scripting/script.js";
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

/** Ids in another order than their messages are scheduled in. */
const idOf = (index: number) => `m-${9_999 - index}`;

async function filled(count: number) {
  const keys = reliableKeys(`{p:claim-${++names}}:zset-list:reliable`);
  const messages = Array.from({ length: count }, (_, index): NewMessage => {
    const id = idOf(index);
    return { id, payload: Buffer.from(id), due: { at: 0 }, onDuplicate: "keep" };
  });
  await schedule(bench.evaluator, keys, messages);
  return keys;
}
type Keys = Awaited<ReturnType<typeof filled>>;

const claiming = async (keys: Keys, token: string, order: number, evaluator: Evaluator = bench.evaluator) => {
  const request = { limit: 250, lease: 60_000, consumer: "c", token, order, attempts: 5 };
  return (await claim(evaluator, keys, request, "c")).result;
};
const idsOf = ({ messages }: { messages: readonly { id: string }[] }) => messages.map(({ id }) => id);

describe("A claim that is made again with its token", () => {
  it("finds what it took among 2,500 leases that end in one ms, in order, 1,000 of them a call.", async () => {
    const keys = await filled(2_500);
    let last = await claiming(keys, "t1", 1);
    for (let order = 2; order <= 10; order++) last = await claiming(keys, `t${order}`, order);
    const ids = Array.from({ length: 2_500 }, (_, index) => idOf(index));
    await bench.raw.command("ZADD", keys.leases, "XX", ...ids.flatMap((id) => [last.leaseUntil, id]));
    let calls = 0;
    const counting: Evaluator = {
      clock: bench.evaluator.clock,
      evaluate(...call) {
        calls += 1;
        return bench.evaluator.evaluate(...call);
      },
    };
    const again = await claiming(keys, "t10", 11, counting);
    expect(idsOf(again)).toEqual(ids.slice(2_250));
    expect(again).toMatchObject({ messages: last.messages, leaseUntil: last.leaseUntil });
    expect(calls).toBe(3);
  });

  it("takes anew once those leases have ended.", async () => {
    const keys = await filled(2);
    const first = await claiming(keys, "t", 1);
    const ended = (await bench.now()) - 1;
    await bench.raw.command("ZADD", keys.leases, ended, idOf(0), ended, idOf(1));
    await bench.raw.command("HSET", keys.claims, "c", `1 ${ended} 0 t`);
    const again = await claiming(keys, "t", 2);
    expect(idsOf(again)).toEqual(idsOf(first));
    expect(again.messages.map(({ attempt }) => attempt)).toEqual([2, 2]);
  });
});

describe("A claim that hung on its way", () => {
  it("is refused when a later one of its consumer has run, and takes nothing.", async () => {
    const keys = await filled(0);
    await claiming(keys, "later", 2);
    await schedule(bench.evaluator, keys, [
      { id: "a", payload: Buffer.from("a"), due: { at: 0 }, onDuplicate: "keep" },
    ]);
    await expect(claiming(keys, "late", 1)).rejects.toMatchObject({ code: "STALE" });
    expect(await counts(bench.evaluator, keys)).toMatchObject({ due: 1, leased: 0 });
  });
});
