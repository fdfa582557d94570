import { PunctualError } from "../../../errors.js";
import { asArray, asNumber } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { LineKeys } from "../line-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("clear", sources["clear"], { keys: ["schedule", "ready", "state"] });

/** Deletes all that waits, and answers how much that was; fails with `outcome-unknown` after a lost reply. */
export async function clear(evaluator: Evaluator, keys: LineKeys): Promise<number> {
  const { reply, uncertain } = await evaluator.evaluate(script, script.keysIn(keys), []);
  const count = asNumber(asArray(reply, "clear")[1], "clear: count");
  if (!uncertain) return count;
  throw new PunctualError(
    "outcome-unknown",
    `A reply was lost, so it is not known how many messages were purged; at least ${count}.`,
    { details: { done: count } },
  );
}
