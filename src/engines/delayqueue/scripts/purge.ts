import { PunctualError } from "../../../errors.js";
import { asArray, asNumber } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { DelayqueueKeys } from "../keys.js";
import { counts } from "./counts.js";
import { sources } from "./sources.generated.js";

const script = defineScript("purge", sources["purge"], {
  keys: ["pending", "ready", "unack", "retry", "counts", "garbage", "messages", "notes", "state"],
});

const mostAtOnce = 250;

/**
 * Deletes as many messages as wait when it begins, what is due first; answers how many. The format does not say when a message
 * was scheduled, so one that comes meanwhile may go in the place of one that was there. Fails with `outcome-unknown` after a
 * lost reply.
 */
export async function purge(evaluator: Evaluator, keys: DelayqueueKeys): Promise<number> {
  const { scheduled, due } = await counts(evaluator, keys);
  let deleted = 0;
  for (let left = scheduled + due; left > 0;) {
    const most = String(Math.min(left, mostAtOnce));
    const { reply, uncertain } = await evaluator.evaluate(script, script.keysIn(keys), [most]);
    const [, looked, done] = asArray(reply, "purge");
    deleted += asNumber(done, "purge: deleted");
    if (uncertain) {
      throw new PunctualError(
        "outcome-unknown",
        `A reply was lost, so it is not known how many messages were purged; at least ${deleted}. Purge again for the rest.`,
      );
    }
    const step = asNumber(looked, "purge: looked");
    if (step === 0) break;
    left -= step;
  }
  return deleted;
}
