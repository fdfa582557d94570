import type { Receipt, Settlement } from "../../../engine.js";
import type { QueueKeys } from "../keys.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { settle } from "../../../scripting/settle.js";
import { sources } from "./sources.generated.js";

const script = defineScript("acknowledge", sources["acknowledge"], {
  keys: ["messages", "leases", "leased", "failures", "state", "gone"],
  harmlessWhenLate: true,
});

/** Messages in one call at most: it only deletes, so it can do more of them than others. Redis works 1.3 ms on 500, median. */
const mostAtOnce = 500;

/** Deletes messages whose leases are still held. */
export async function acknowledge(
  evaluator: Evaluator,
  keys: QueueKeys,
  receipts: readonly Receipt[],
): Promise<Settlement[]> {
  return await settle(evaluator, receipts, { script, keys: script.keysIn(keys), items: mostAtOnce, byToken: true });
}
