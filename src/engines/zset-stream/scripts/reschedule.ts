import type { EngineQueue, Reschedule } from "../../../engine.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { outcomesOf } from "../../../scripting/outcomes.js";
import { asArray } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { Groups } from "../groups.js";
import { sources } from "./sources.generated.js";

const script = defineScript("reschedule", sources["reschedule"], {
  keys: ["schedule", "messages", "moved", "lost", "stream", "groups", "queue"],
});

type Answer = Awaited<ReturnType<EngineQueue["reschedule"]>>[number];

const words = { r: "rescheduled", l: "leased", d: "dead", a: "absent" } as const;
/**
 * After a lost reply: the attempt whose reply it was may have made the message due, and others claimed it or finished it
 * since. Only one that still waits has the due time that was asked for.
 */
const afterLostReply = { r: "rescheduled", l: "outcome-unknown", d: "outcome-unknown", a: "outcome-unknown" } as const;

/** Messages in one call at most: each costs some look-ups for each group. */
const mostAtOnce = 200;

/** Sets another due time, in every group that waits for the message. */
export async function reschedule(
  evaluator: Evaluator,
  groups: Groups,
  changes: readonly Reschedule[],
): Promise<Answer[]> {
  return await inChunks(changes, { id: ({ id }) => id, items: mostAtOnce }, async (chunk): Promise<Answer[]> => {
    const args = chunk.flatMap(({ id, due }) =>
      "at" in due ? [id, "a", String(due.at)] : [id, "d", String(due.delay)],
    );
    const { reply, uncertain } = await groups.evaluate(evaluator, script, () => args);
    const [, letters] = asArray(reply, "reschedule");
    return outcomesOf<Answer>(letters, uncertain ? afterLostReply : words, "reschedule: outcomes");
  });
}
