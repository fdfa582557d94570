import { asArray, asNumber } from "../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../scripting/script.js";
import type { TurnKeys } from "../../waking/turn.js";
import { sources } from "./sources.generated.js";

const script = defineScript("counts", sources["counts"], { keys: ["schedule", "state"], harmlessWhenLate: true });

/** How many messages of a zset are due, and how many are not yet. */
export async function countWaiting(
  evaluator: Evaluator,
  keys: TurnKeys,
): Promise<{ readonly scheduled: number; readonly due: number }> {
  const { reply } = await evaluator.evaluate(script, script.keysIn(keys), []);
  const [, scheduled, due] = asArray(reply, "counts");
  return { scheduled: asNumber(scheduled, "counts: scheduled"), due: asNumber(due, "counts: due") };
}
