import { asArray, asNumber } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { ReliableKeys } from "../reliable-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("reclaim", sources["reclaim"], {
  keys: ["schedule", "messages", "standing", "leases", "dead", "state"],
  harmlessWhenLate: true,
});

/** Reclaims all leases that have ended, as claims do by and by. */
export async function reclaim(evaluator: Evaluator, keys: ReliableKeys): Promise<void> {
  for (let left = 1; left > 0;) {
    const { reply } = await evaluator.evaluate(script, script.keysIn(keys), []);
    left = asNumber(asArray(reply, "reclaim")[1], "reclaim: left");
  }
}
