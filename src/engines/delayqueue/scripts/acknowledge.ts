import type { Receipt, Settlement } from "../../../engine.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { settle } from "../../../scripting/settle.js";
import type { DelayqueueKeys } from "../keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("acknowledge", sources["acknowledge"], {
  keys: ["pending", "unack", "counts", "garbage", "messages", "notes", "state"],
  harmlessWhenLate: true,
});

/** Deletes messages whose leases are still held. */
export async function acknowledge(
  evaluator: Evaluator,
  keys: DelayqueueKeys,
  receipts: readonly Receipt[],
): Promise<Settlement[]> {
  return await settle(evaluator, receipts, { script, keys: script.keysIn(keys), args: [keys.events] });
}
