import type { QueueKeys } from "../keys.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { type DeadLetterAct, toAll, toNamed } from "./dead-letters.js";
import { sources } from "./sources.generated.js";

const script = defineScript("remove", sources["remove"], {
  keys: ["messages", "leases", "leased", "failures", "dead", "state", "gone"],
});

/** Messages in one call at most. On a busy machine 500 took 3 ms, and 1 in 20 over 7 ms. */
const mostAtOnce = 250;

/** Deletes dead letters; answers how many. `operation` names this one among all that ever run. */
export async function remove(
  evaluator: Evaluator,
  keys: QueueKeys,
  ids: readonly string[] | "all",
  operation: string,
): Promise<number> {
  const act: DeadLetterAct = {
    script,
    keys: script.keysIn(keys),
    args: [],
    most: mostAtOnce,
    operation,
  };
  return await (ids === "all" ? toAll(evaluator, keys, act) : toNamed(evaluator, ids, act));
}
