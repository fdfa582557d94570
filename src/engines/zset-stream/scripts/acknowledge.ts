import type { Receipt, Settlement } from "../../../engine.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { settle } from "../../../scripting/settle.js";
import type { StreamKeys } from "../keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("acknowledge", sources["acknowledge"], {
  keys: ["messages", "moved", "stream", "queue", "gone", "leases", "copies", "failures"],
  harmlessWhenLate: true,
});

/** Ends leases that are still held; deletes the messages with which every group is done. */
export async function acknowledge(
  evaluator: Evaluator,
  keys: StreamKeys,
  group: string,
  receipts: readonly Receipt[],
): Promise<Settlement[]> {
  return await settle(evaluator, receipts, { script, keys: script.keysIn(keys), args: [group] });
}
