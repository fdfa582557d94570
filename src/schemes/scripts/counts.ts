import { asArray, asNumber } from "../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../scripting/script.js";
import { type MemberKeys, withParked } from "../member-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("counts", sources["counts"], {
  keys: ["schedule", "state", "parked"],
  harmlessWhenLate: true,
});

/** How many messages of a zset are due, and how many are not yet; and whether there is a pause. */
export async function countWaiting(
  evaluator: Evaluator,
  keys: MemberKeys,
): Promise<{ readonly scheduled: number; readonly due: number; readonly paused: boolean }> {
  const { reply } = await evaluator.evaluate(script, script.keysIn(withParked(keys)), []);
  const [, scheduled, due, paused] = asArray(reply, "counts");
  return {
    scheduled: asNumber(scheduled, "counts: scheduled"),
    due: asNumber(due, "counts: due"),
    paused: asNumber(paused, "counts: paused") === 1,
  };
}
