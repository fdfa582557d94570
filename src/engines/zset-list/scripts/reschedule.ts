import type { EngineQueue, Reschedule } from "../../../engine.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { outcomesOf } from "../../../scripting/outcomes.js";
import { asArray } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { ReliableKeys } from "../reliable-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("reschedule", sources["reschedule"], {
  keys: ["schedule", "ready", "messages", "standing", "leases", "dead", "state", "waiting"],
});

type Answer = Awaited<ReturnType<EngineQueue["reschedule"]>>[number];

const words = { r: "rescheduled", l: "leased", d: "dead", a: "absent" } as const;
/** After a lost reply only one that still waits is known to have the due time that was asked for. */
const afterLostReply = { r: "rescheduled", l: "outcome-unknown", d: "outcome-unknown", a: "outcome-unknown" } as const;

/** Messages in one call at most: each that stands in the list is looked for there. */
const mostAtOnce = 250;

/** Sets another due time for messages that wait. */
export async function reschedule(
  evaluator: Evaluator,
  keys: ReliableKeys,
  changes: readonly Reschedule[],
): Promise<Answer[]> {
  const cut = { id: ({ id }: Reschedule) => id, items: mostAtOnce };
  return await inChunks(changes, cut, async (chunk): Promise<Answer[]> => {
    const args = chunk.flatMap(({ id, due }) =>
      "at" in due ? [id, "a", String(due.at)] : [id, "d", String(due.delay)],
    );
    const { reply, uncertain } = await evaluator.evaluate(script, script.keysIn(keys), [keys.channel, ...args]);
    const [, letters] = asArray(reply, "reschedule");
    return outcomesOf<Answer>(letters, uncertain ? afterLostReply : words, "reschedule: outcomes");
  });
}
