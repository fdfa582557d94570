import type { DueTime } from "../../../engine.js";
import type { QueueKeys } from "../keys.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { type DeadLetterAct, toAll, toNamed } from "./dead-letters.js";
import { sources } from "./sources.generated.js";

const script = defineScript("revive", sources["revive"], {
  keys: ["schedule", "messages", "leases", "leased", "failures", "dead", "state", "waiting"],
});

/** Messages in one call at most: their bodies are written anew. With payloads of 1 KiB it took 30 µs for each on a busy machine. */
const mostAtOnce = 125;

/**
 * Brings dead letters back, in the order of the ids or, of all, of their burial; answers how many. `operation` names this
 * one among all that ever run.
 */
export async function revive(
  evaluator: Evaluator,
  keys: QueueKeys,
  ids: readonly string[] | "all",
  { due, operation }: { readonly due: DueTime; readonly operation: string },
): Promise<number> {
  const when = "at" in due ? ["a", String(due.at)] : ["d", String(due.delay)];
  const act: DeadLetterAct = {
    script,
    keys: script.keysIn(keys),
    args: [keys.channel, ...when],
    most: mostAtOnce,
    operation,
  };
  return await (ids === "all" ? toAll(evaluator, keys, act) : toNamed(evaluator, ids, act));
}
