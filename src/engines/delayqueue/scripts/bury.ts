import type { OpenOptions, Receipt, Settlement } from "../../../engine.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { settle } from "../../../scripting/settle.js";
import type { DelayqueueKeys } from "../keys.js";
import { tellGivenUp } from "../given-up.js";
import { sources } from "./sources.generated.js";

const script = defineScript("bury", sources["bury"], {
  keys: ["pending", "unack", "counts", "garbage", "messages", "notes", "state"],
  harmlessWhenLate: true,
});

/** Gives messages whose leases are still held up for good. */
export async function bury(
  evaluator: Evaluator,
  keys: DelayqueueKeys,
  receipts: readonly Receipt[],
  onDropped: OpenOptions["onDropped"],
): Promise<Settlement[]> {
  return await settle(evaluator, receipts, {
    script,
    keys: script.keysIn(keys),
    args: [keys.events],
    onRest: (rest) => tellGivenUp(rest, onDropped, "bury"),
  });
}
