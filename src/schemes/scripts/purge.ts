import { PunctualError } from "../../errors.js";
import { asArray, asNumber } from "../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../scripting/script.js";
import { type MemberKeys, withParked } from "../member-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("purge", sources["purge"], { keys: ["schedule", "state", "parked"] });

/** Deletes all that waits, and answers how much that was; fails with `outcome-unknown` after a lost reply. */
export async function purgeWaiting(evaluator: Evaluator, keys: MemberKeys): Promise<number> {
  const { reply, uncertain } = await evaluator.evaluate(script, script.keysIn(withParked(keys)), []);
  const count = asNumber(asArray(reply, "purge")[1], "purge: count");
  if (!uncertain) return count;
  throw new PunctualError(
    "outcome-unknown",
    `A reply was lost, so it is not known how many messages were purged; at least ${count}.`,
  );
}
