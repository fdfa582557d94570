import type { EngineQueue, Reschedule } from "../../../engine.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { outcomesOf } from "../../../scripting/outcomes.js";
import { asArray } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { type KeyExpiryKeys, pairsOf } from "../keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("reschedule", sources["reschedule"], { keys: ["ids", "state"] });

type Answer = Awaited<ReturnType<EngineQueue["reschedule"]>>[number];

const words = { r: "rescheduled", a: "absent" } as const;
/** After a lost reply: that attempt may have made the message due, and others took it since. */
const afterLostReply = { r: "rescheduled", a: "outcome-unknown" } as const;

/** Sets another due time for messages that wait. */
export async function reschedule(
  evaluator: Evaluator,
  keys: KeyExpiryKeys,
  changes: readonly Reschedule[],
): Promise<Answer[]> {
  return await inChunks(changes, { id: ({ id }) => id }, async (chunk): Promise<Answer[]> => {
    const ids = chunk.map(({ id }) => id);
    const args = [keys.told];
    for (const { id, due } of chunk) {
      if ("at" in due) args.push(id, "a", String(due.at));
      else args.push(id, "d", String(due.delay));
    }
    const names = [...script.keysIn(keys), ...pairsOf(keys, ids)];
    const { reply, uncertain } = await evaluator.evaluate(script, names, args);
    const letters = asArray(reply, "reschedule")[1];
    return outcomesOf<Answer>(letters, uncertain ? afterLostReply : words, "reschedule: outcomes");
  });
}
