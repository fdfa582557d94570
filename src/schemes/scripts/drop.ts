import { asArray, asNumber } from "../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../scripting/script.js";
import type { WakingKeys } from "../../waking/keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("drop", sources["drop"], { keys: ["state"] });

/** Counts messages that were given up; answers how many of the queue were so far. */
export async function drop(evaluator: Evaluator, keys: WakingKeys, count: number): Promise<number> {
  const { reply } = await evaluator.evaluate(script, script.keysIn(keys), [String(count)]);
  return asNumber(asArray(reply, "drop")[1], "drop: total");
}
