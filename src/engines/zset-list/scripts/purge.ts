import { asArray, asNumber, asText } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { counted } from "../../../scripting/done-count.js";
import type { ReliableKeys } from "../reliable-keys.js";
import { emptyHands } from "./hands.js";
import { sources } from "./sources.generated.js";

const script = defineScript("purge", sources["purge"], {
  keys: ["schedule", "ready", "messages", "standing", "leases", "dead", "state", "gone"],
});

/**
 * Deletes what waits, or what is dead, when it begins; answers how much that was. The zset is walked until a walk finds nothing
 * to delete, since others may take messages out of it in front of a walk. What waits in the hands of consumers goes back to the
 * zset before.
 */
export async function purge(evaluator: Evaluator, keys: ReliableKeys, what: "waiting" | "dead"): Promise<number> {
  return await counted("messages were purged", async (count) => {
    if (what === "waiting") await emptyHands(evaluator, keys);
    let [by, from, inThisWalk] = ["", "0", 0];
    for (;;) {
      const { reply, uncertain } = await evaluator.evaluate(script, script.keysIn(keys), [what, by, from]);
      const [, deleted, newest, next] = asArray(reply, "purge");
      const some = asNumber(deleted, "purge: deleted");
      count(some, uncertain);
      inThisWalk += some;
      by = asText(newest, "purge: by");
      const isEnd = asText(next, "purge: from") === "";
      if (isEnd && (from === "0" || inThisWalk === 0)) break;
      if (isEnd) inThisWalk = 0;
      from = isEnd ? "0" : asText(next, "purge: from");
    }
  });
}
