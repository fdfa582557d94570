import type { EngineQueue, Reschedule } from "../../../engine.js";
import type { QueueKeys } from "../keys.js";
import { asArray } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { boundArgs, tellDropped, unbounded } from "./dropped.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { outcomesOf } from "../../../scripting/outcomes.js";
import { sources } from "./sources.generated.js";

const script = defineScript("reschedule", sources["reschedule"], {
  keys: ["schedule", "messages", "leases", "leased", "failures", "dead", "state", "waiting", "gone"],
});

type Answer = Awaited<ReturnType<EngineQueue["reschedule"]>>[number];

const words = { r: "rescheduled", l: "leased", d: "dead", a: "absent" } as const;
/**
 * After a lost reply: the attempt whose reply it was may have made the message due, and others claimed it or finished it
 * since. Only one that still waits has the due time that was asked for.
 */
const afterLostReply = { r: "rescheduled", l: "outcome-unknown", d: "outcome-unknown", a: "outcome-unknown" } as const;

/** Sets another due time for messages that wait. */
export async function reschedule(
  evaluator: Evaluator,
  keys: QueueKeys,
  changes: readonly Reschedule[],
  bounded = unbounded,
): Promise<Answer[]> {
  const names = script.keysIn(keys);
  return await inChunks(changes, { id: ({ id }) => id }, async (chunk): Promise<Answer[]> => {
    const args = [keys.channel, ...boundArgs(bounded)];
    for (const { id, due } of chunk) {
      if ("at" in due) args.push(id, "a", String(due.at));
      else args.push(id, "d", String(due.delay));
    }
    const { reply, uncertain } = await evaluator.evaluate(script, names, args);
    const [, letters, ...dropped] = asArray(reply, "reschedule");
    tellDropped(bounded, dropped, "reschedule");
    return outcomesOf<Answer>(letters, uncertain ? afterLostReply : words, "reschedule: outcomes");
  });
}
