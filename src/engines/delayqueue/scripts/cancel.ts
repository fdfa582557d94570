import type { EngineQueue } from "../../../engine.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { outcomesOf } from "../../../scripting/outcomes.js";
import { asArray } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { DelayqueueKeys } from "../keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("cancel", sources["cancel"], {
  keys: ["pending", "ready", "unack", "retry", "counts", "garbage", "messages", "notes", "state"],
});

type Answer = Awaited<ReturnType<EngineQueue["cancel"]>>[number];

const words = { c: "cancelled", l: "leased", a: "absent" } as const;
/** After a lost reply, what is not there may have been removed by the attempt whose reply it was, or long before. */
const afterLostReply = { ...words, a: "outcome-unknown" } as const;

/** Removes messages that nobody works on: what the Go library calls to intercept. */
export async function cancel(evaluator: Evaluator, keys: DelayqueueKeys, ids: readonly string[]): Promise<Answer[]> {
  return await inChunks(ids, { id: (id) => id, items: 250 }, async (chunk): Promise<Answer[]> => {
    const { reply, uncertain } = await evaluator.evaluate(script, script.keysIn(keys), chunk);
    return outcomesOf<Answer>(asArray(reply, "cancel")[1], uncertain ? afterLostReply : words, "cancel: outcomes");
  });
}
