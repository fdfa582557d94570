import type { EngineQueue, Reschedule } from "../../../engine.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { outcomesOf } from "../../../scripting/outcomes.js";
import { asArray } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { DelayqueueKeys } from "../keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("reschedule", sources["reschedule"], {
  keys: ["pending", "ready", "unack", "retry", "counts", "garbage", "messages", "notes", "state", "waiting"],
});

type Answer = Awaited<ReturnType<EngineQueue["reschedule"]>>[number];

const words = { r: "rescheduled", l: "leased", a: "absent" } as const;
/** After a lost reply: an attempt may have moved the message, so that it came due, was taken, or is gone meanwhile. */
const afterLostReply = { r: "rescheduled", l: "outcome-unknown", a: "outcome-unknown" } as const;

/** Gives messages that nobody works on another due time. `keep`: how long payloads stay after it, ms. */
export async function reschedule(
  evaluator: Evaluator,
  keys: DelayqueueKeys,
  changes: readonly Reschedule[],
  keep: number,
): Promise<Answer[]> {
  return await inChunks(changes, { id: ({ id }) => id, items: 250 }, async (chunk): Promise<Answer[]> => {
    const values = chunk.flatMap(({ id, due }) =>
      "at" in due ? [id, "a", String(due.at)] : [id, "d", String(due.delay)],
    );
    const args = [keys.channel, String(keep), ...values];
    const { reply, uncertain } = await evaluator.evaluate(script, script.keysIn(keys), args);
    const [, letters] = asArray(reply, "reschedule");
    return outcomesOf<Answer>(letters, uncertain ? afterLostReply : words, "reschedule: outcomes");
  });
}
