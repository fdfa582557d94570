import type { EngineQueue } from "../../../engine.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { outcomesOf } from "../../../scripting/outcomes.js";
import { asArray } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { counted } from "../../../scripting/done-count.js";
import type { ReliableKeys } from "../reliable-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("cancel", sources["cancel"], {
  keys: ["schedule", "ready", "messages", "standing", "leases", "dead", "state", "gone"],
});

type Answer = Awaited<ReturnType<EngineQueue["cancel"]>>[number];

const words = { c: "cancelled", l: "leased", a: "absent" } as const;
/** After a lost reply, what is not there may have been removed by the attempt whose reply it was, or long before. */
const afterLostReply = { ...words, a: "outcome-unknown" } as const;

/** Messages in one call at most: each that stands in the list is looked for there. */
const cut = { id: (id: string) => id, items: 250 };

/** Removes messages that nobody works on, dead letters too. */
export async function cancel(evaluator: Evaluator, keys: ReliableKeys, ids: readonly string[]): Promise<Answer[]> {
  return await inChunks(ids, cut, async (chunk) => {
    const { letters, uncertain } = await call(evaluator, keys, "0", chunk);
    return outcomesOf<Answer>(letters, uncertain ? afterLostReply : words, "cancel: outcomes");
  });
}

/** Deletes dead letters; answers how many. */
export async function removeDead(evaluator: Evaluator, keys: ReliableKeys, ids: readonly string[]): Promise<number> {
  return await counted("dead letters were removed", async (count) => {
    await inChunks(ids, cut, async (chunk) => {
      const { letters, uncertain } = await call(evaluator, keys, "1", chunk);
      const answers = outcomesOf<Answer>(letters, words, "cancel: outcomes");
      const removed = answers.filter((answer) => answer === "cancelled").length;
      // What the lost attempt removed is absent now: where there is none of that, all was removed by this one.
      count(removed, uncertain && removed < answers.length);
      return answers;
    });
  });
}

async function call(evaluator: Evaluator, keys: ReliableKeys, onlyDead: "0" | "1", ids: readonly string[]) {
  const { reply, uncertain } = await evaluator.evaluate(script, script.keysIn(keys), [onlyDead, ...ids]);
  return { letters: asArray(reply, "cancel")[1], uncertain };
}
