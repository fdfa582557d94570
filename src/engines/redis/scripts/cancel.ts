import type { EngineQueue } from "../../../engine.js";
import type { QueueKeys } from "../keys.js";
import { asArray } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { outcomesOf } from "../../../scripting/outcomes.js";
import { sources } from "./sources.generated.js";

const script = defineScript("cancel", sources["cancel"], {
  keys: ["schedule", "messages", "leases", "leased", "failures", "dead", "state", "gone"],
});

type Answer = Awaited<ReturnType<EngineQueue["cancel"]>>[number];

const words = { c: "cancelled", l: "leased", a: "absent" } as const;
/** After a lost reply, what is not there may have been removed by the attempt whose reply it was, or long before. */
const afterLostReply = { ...words, a: "outcome-unknown" } as const;

/** Removes messages that nobody works on, dead letters too. */
export async function cancel(evaluator: Evaluator, keys: QueueKeys, ids: readonly string[]): Promise<Answer[]> {
  const names = script.keysIn(keys);
  return await inChunks(ids, { id: (id) => id }, async (chunk): Promise<Answer[]> => {
    const { reply, uncertain } = await evaluator.evaluate(script, names, chunk);
    const [, letters] = asArray(reply, "cancel");
    return outcomesOf<Answer>(letters, uncertain ? afterLostReply : words, "cancel: outcomes");
  });
}
