import type { Counts } from "../../../engine.js";
import { countsOf } from "../../../scripting/counted.js";
import { asArray } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { ReliableKeys } from "../reliable-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("counts", sources["counts"], {
  keys: ["schedule", "ready", "messages", "standing", "leases", "dead", "state"],
  harmlessWhenLate: true,
});

/** How many messages are in each state. What a consumer popped a moment ago and has no lease on yet is due. */
export async function counts(evaluator: Evaluator, keys: ReliableKeys): Promise<Counts> {
  const { reply } = await evaluator.evaluate(script, script.keysIn(keys), []);
  const [, ...counted] = asArray(reply, "counts");
  return countsOf(counted);
}
