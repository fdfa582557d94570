import type { DueTime } from "../../../engine.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { outcomesOf } from "../../../scripting/outcomes.js";
import { asArray, asNumber } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { counted } from "../../../scripting/done-count.js";
import type { ReliableKeys } from "../reliable-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("revive", sources["revive"], {
  keys: ["schedule", "messages", "standing", "leases", "dead", "state", "waiting"],
});

const words = { r: true, n: false } as const;

/** Messages in one call at most: their bodies are written anew. */
const mostAtOnce = 125;

/**
 * Brings dead letters back, in the order of the ids or, of all that are dead when it begins, of their burial; answers how many.
 */
export async function revive(
  evaluator: Evaluator,
  keys: ReliableKeys,
  ids: readonly string[] | "all",
  due: DueTime,
): Promise<number> {
  const when = "at" in due ? ["a", String(due.at)] : ["d", String(due.delay)];
  let began: number | undefined;
  return await counted("dead letters were revived", async (count) => {
    const call = async (some: readonly string[]) => {
      const { reply, uncertain } = await evaluator.evaluate(script, script.keysIn(keys), [
        keys.channel,
        ...when,
        began === undefined ? "" : String(began),
        ...some,
      ]);
      const [now, letters] = asArray(reply, "revive");
      began ??= Math.floor(asNumber(now, "revive: now"));
      const outcomes = outcomesOf(letters, words, "revive: outcomes");
      const revived = outcomes.filter(Boolean).length;
      // What the lost attempt revived is dead no more: where all that are named were, it has revived none.
      count(revived, uncertain && (ids === "all" || revived < outcomes.length));
      return outcomes;
    };
    if (ids === "all") while ((await call([])).length > 0);
    else await inChunks(ids, { id: (id) => id, items: mostAtOnce }, call);
  });
}
