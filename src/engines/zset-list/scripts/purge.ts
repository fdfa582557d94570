import { PunctualError } from "../../../errors.js";
import { asArray, asNumber, asText } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { ReliableKeys } from "../reliable-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("purge", sources["purge"], {
  keys: ["schedule", "ready", "messages", "standing", "leases", "dead", "state", "gone"],
});

/**
 * Deletes what waits, or what is dead, when it begins; answers how much that was. The zset is walked until a walk finds nothing
 * to delete, since others may take messages out of it in front of a walk. Fails with `outcome-unknown` when a lost reply hides
 * how much it was.
 */
export async function purge(evaluator: Evaluator, keys: ReliableKeys, what: "waiting" | "dead"): Promise<number> {
  let by = "";
  let from = "0";
  let count = 0;
  let inThisWalk = 0;
  let isKnown = true;
  for (;;) {
    const { reply, uncertain } = await evaluator.evaluate(script, script.keysIn(keys), [what, by, from]);
    const [, deleted, newest, next] = asArray(reply, "purge");
    const some = asNumber(deleted, "purge: deleted");
    count += some;
    inThisWalk += some;
    isKnown &&= !uncertain;
    by = asText(newest, "purge: by");
    const isEnd = asText(next, "purge: from") === "";
    if (isEnd && (from === "0" || inThisWalk === 0)) break;
    if (isEnd) inThisWalk = 0;
    from = isEnd ? "0" : asText(next, "purge: from");
  }
  if (isKnown) return count;
  throw new PunctualError(
    "outcome-unknown",
    `A reply was lost, so it is not known how many messages were purged; at least ${count}.`,
  );
}
