import type { EngineQueue } from "../../../engine.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { outcomesOf } from "../../../scripting/outcomes.js";
import { asArray } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { Groups } from "../groups.js";
import { sources } from "./sources.generated.js";

const script = defineScript("cancel", sources["cancel"], {
  keys: ["schedule", "messages", "moved", "lost", "stream", "groups", "queue", "gone"],
});

type Answer = Awaited<ReturnType<EngineQueue["cancel"]>>[number];

const words = { c: "cancelled", l: "leased", a: "absent" } as const;
/** After a lost reply, what is not there may have been removed by the attempt whose reply it was, or long before. */
const afterLostReply = { ...words, a: "outcome-unknown" } as const;

/** Messages in one call at most: each costs some look-ups for each group. */
const mostAtOnce = 200;

/**
 * Takes messages that no consumer of any group works on from all groups, dead letters too. With `newest`, for a purge, only those
 * that are not dead and have at most this sequence number; the others are `absent`.
 */
export async function cancel(
  evaluator: Evaluator,
  groups: Groups,
  ids: readonly string[],
  newest?: number,
): Promise<Answer[]> {
  return await inChunks(ids, { id: (id) => id, items: mostAtOnce }, async (chunk): Promise<Answer[]> => {
    const args = [newest === undefined ? "" : String(newest), ...chunk];
    const { reply, uncertain } = await groups.evaluate(evaluator, script, () => args);
    const [, letters] = asArray(reply, "cancel");
    return outcomesOf<Answer>(letters, uncertain ? afterLostReply : words, "cancel: outcomes");
  });
}
