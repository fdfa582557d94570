import type { Counts } from "../../../engine.js";
import type { QueueKeys } from "../keys.js";
import { countsOf } from "../../../scripting/counted.js";
import { asArray } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { sources } from "./sources.generated.js";

const script = defineScript("counts", sources["counts"], {
  keys: ["schedule", "leases", "leased", "failures", "dead", "state"],
  harmlessWhenLate: true,
});

/** How many messages are in each state, and whether the queue is paused. */
export async function counts(evaluator: Evaluator, keys: QueueKeys): Promise<Counts> {
  const { reply } = await evaluator.evaluate(script, script.keysIn(keys), []);
  const [, ...counted] = asArray(reply, "counts");
  return countsOf(counted);
}
