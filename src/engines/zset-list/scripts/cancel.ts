import type { EngineQueue } from "../../../engine.js";
import { PunctualError } from "../../../errors.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { outcomesOf } from "../../../scripting/outcomes.js";
import { asArray } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
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
const mostAtOnce = 250;

/** Removes messages that nobody works on, dead letters too. */
export async function cancel(evaluator: Evaluator, keys: ReliableKeys, ids: readonly string[]): Promise<Answer[]> {
  return await removeAll(evaluator, keys, ids, false);
}

/** Deletes dead letters; answers how many. Fails with `outcome-unknown` when a lost reply hides that. */
export async function removeDead(evaluator: Evaluator, keys: ReliableKeys, ids: readonly string[]): Promise<number> {
  const answers = await removeAll(evaluator, keys, ids, true);
  const count = answers.filter((answer) => answer === "cancelled").length;
  if (!answers.includes("outcome-unknown")) return count;
  throw new PunctualError(
    "outcome-unknown",
    `A reply was lost, so it is not known how many dead letters were removed; at least ${count}.`,
  );
}

async function removeAll(
  evaluator: Evaluator,
  keys: ReliableKeys,
  ids: readonly string[],
  onlyDead: boolean,
): Promise<Answer[]> {
  return await inChunks(ids, { id: (id) => id, items: mostAtOnce }, async (chunk): Promise<Answer[]> => {
    const { reply, uncertain } = await evaluator.evaluate(script, script.keysIn(keys), [
      onlyDead ? "1" : "0",
      ...chunk,
    ]);
    const [, letters] = asArray(reply, "cancel");
    return outcomesOf<Answer>(letters, uncertain ? afterLostReply : words, "cancel: outcomes");
  });
}
