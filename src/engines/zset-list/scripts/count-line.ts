import { asArray, asNumber } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { LineKeys } from "../line-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("count-line", sources["count-line"], {
  keys: ["schedule", "ready", "state"],
  harmlessWhenLate: true,
});

/** How many messages wait: what is due lies in the zset or in the list. */
export async function countLine(
  evaluator: Evaluator,
  keys: LineKeys,
): Promise<{ readonly scheduled: number; readonly due: number; readonly paused: boolean }> {
  const { reply } = await evaluator.evaluate(script, script.keysIn(keys), []);
  const [, scheduled, due, paused] = asArray(reply, "count-line");
  return {
    scheduled: asNumber(scheduled, "count-line: scheduled"),
    due: asNumber(due, "count-line: due"),
    paused: paused === 1,
  };
}
