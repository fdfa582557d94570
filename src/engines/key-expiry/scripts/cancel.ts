import type { EngineQueue } from "../../../engine.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { outcomesOf } from "../../../scripting/outcomes.js";
import { asArray } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { type KeyExpiryKeys, pairsOf } from "../keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("cancel", sources["cancel"], { keys: ["ids", "state"] });

type Answer = Awaited<ReturnType<EngineQueue["cancel"]>>[number];

const words = { c: "cancelled", a: "absent" } as const;
/** After a lost reply, what is not there may have been removed by the attempt whose reply it was, or long before. */
const afterLostReply = { c: "cancelled", a: "outcome-unknown" } as const;

/** Removes messages that wait. */
export async function cancel(evaluator: Evaluator, keys: KeyExpiryKeys, ids: readonly string[]): Promise<Answer[]> {
  return await inChunks(ids, { id: (id) => id }, async (chunk): Promise<Answer[]> => {
    const names = [...script.keysIn(keys), ...pairsOf(keys, chunk)];
    const { reply, uncertain } = await evaluator.evaluate(script, names, chunk);
    return outcomesOf<Answer>(asArray(reply, "cancel")[1], uncertain ? afterLostReply : words, "cancel: outcomes");
  });
}
