import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import { losingEvaluator } from "../../../../test/support/losing-evaluator.js";
import type { Evaluator, ScriptArguments } from "../../../scripting/script.js";
import { wakingKeys } from "../../../waking/keys.js";
import { decodeMember, encodeMember } from "../../../schemes/member.js";
import { newMessage } from "../../../testing/conformance/stage.js";
import { take } from "./take.js";

let bench: ScriptBench;
let names = 0;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

/** A queue in which messages with these ids are due. */
async function filled(...ids: string[]) {
  const base = `{p:take-${++names}}:zset-list`;
  const keys = { ...wakingKeys(base), schedule: `${base}:schedule`, ready: `${base}:ready` };
  const members = ids.map((id) => encodeMember(newMessage(id)));
  const places = members.flatMap((member, index) => [1_000 + index, member]);
  if (places.length > 0) await bench.raw.command("ZADD", keys.schedule, ...places);
  return keys;
}
const wordsOf = (args: ScriptArguments, again: boolean) => (typeof args === "function" ? args(again) : args);
type Keys = Awaited<ReturnType<typeof filled>>;

const taking = async (keys: Keys, limit: number, evaluator: Evaluator = bench.evaluator) => {
  const { entries, lost } = await take(evaluator, keys, { consumer: "c", limit }, `call-${++names}`);
  return { taken: entries.map((entry) => decodeMember(entry.subarray(8)).id), lost };
};

describe("take", () => {
  it("names what it lost with a reply, and takes what is left when it is called again.", async () => {
    const keys = await filled("one", "two", "ß 3");
    const lossy = losingEvaluator(bench.evaluator);
    expect(await taking(keys, 2, lossy)).toEqual({ taken: [], lost: ["one", "two"] });
    expect(await taking(keys, 2)).toEqual({ taken: ["ß 3"], lost: [] });
  });

  it("names what it lost, however many replies are lost after that.", async () => {
    const keys = await filled("one", "two");
    const lossy: Evaluator = {
      clock: bench.evaluator.clock,
      async evaluate(script, names, args, options) {
        await bench.evaluator.evaluate(script, names, wordsOf(args, false), options);
        return await losingEvaluator(bench.evaluator).evaluate(script, names, wordsOf(args, true), options);
      },
    };
    expect(await taking(keys, 1, lossy)).toEqual({ taken: [], lost: ["one"] });
    expect(await taking(keys, 9)).toEqual({ taken: ["two"], lost: [] });
  });

  it("tells no loss when what was lost is the reply that there is nothing.", async () => {
    const keys = await filled();
    expect(await taking(keys, 9, losingEvaluator(bench.evaluator))).toEqual({ taken: [], lost: [] });
  });

  it("takes nothing, and loses nothing, when the attempt whose reply was lost has not run.", async () => {
    const keys = await filled("one");
    expect(await taking(keys, 9, losingEvaluator(bench.evaluator, { ran: false }))).toEqual({ taken: [], lost: [] });
    expect(await taking(keys, 9)).toEqual({ taken: ["one"], lost: [] });
  });

  it("takes nothing for an attempt that hung on its way and runs when a later one was answered.", async () => {
    const keys = await filled("one");
    const late: Evaluator = {
      clock: bench.evaluator.clock,
      async evaluate(script, names, args, options) {
        const answer = await bench.evaluator.evaluate(script, names, wordsOf(args, true), options);
        await bench.evaluator.evaluate(script, names, wordsOf(args, false), options);
        return { ...answer, uncertain: true };
      },
    };
    expect(await taking(keys, 9, late)).toEqual({ taken: [], lost: [] });
    expect(await taking(keys, 9)).toEqual({ taken: ["one"], lost: [] });
  });

  const place = (keys: Keys, at: number, id: string) =>
    bench.raw.command("ZADD", keys.schedule, at, encodeMember(newMessage(id)));

  it.each([
    [1_000, ["0", "2", "3", "4", "5"]],
    [1_002.5, ["2", "3", "0", "4", "5"]],
    [1_004, ["2", "3", "4", "0", "5"]],
    [1_009, ["2", "3", "4", "5", "0"]],
  ])("takes what came back to the zset as due at %d in its place among those in the list.", async (at, order) => {
    const keys = await filled("1", "2", "3", "4", "5");
    expect(await taking(keys, 1)).toEqual({ taken: ["1"], lost: [] });
    expect(await bench.raw.command("LLEN", keys.ready)).toBe(4);
    await place(keys, at, "0");
    expect(await taking(keys, 9)).toEqual({ taken: order, lost: [] });
    expect(await bench.raw.command("EXISTS", keys.schedule, keys.ready)).toBe(0);
  });

  it("puts back about 1 MiB at most for what came back, so large messages in front of that stay in front.", async () => {
    const keys = await filled("1");
    const large = (id: string) => encodeMember(newMessage(id, { payload: Buffer.alloc(400_000) }));
    const places = ["2", "3", "4", "5"].flatMap((id, index) => [1_010 + index, large(id)]);
    await bench.raw.command("ZADD", keys.schedule, ...places);
    // Those that move in one call are about 1 MiB, too.
    for (const id of ["1", "2"]) expect(await taking(keys, 1)).toEqual({ taken: [id], lost: [] });
    expect(await bench.raw.command("LLEN", keys.ready)).toBe(3);
    await place(keys, 1_000, "1");
    expect(await taking(keys, 2)).toEqual({ taken: ["3", "1"], lost: [] });
  });
});
