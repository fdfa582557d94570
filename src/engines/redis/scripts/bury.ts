import type { Burial, Settlement } from "../../../engine.js";
import type { QueueKeys } from "../keys.js";
import { failureText } from "../../../scripting/failure-text.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { boundArgs, tellDropped, unbounded } from "./dropped.js";
import { settle } from "../../../scripting/settle.js";
import { sources } from "./sources.generated.js";

const script = defineScript("bury", sources["bury"], {
  keys: ["messages", "leases", "leased", "failures", "dead", "state", "gone"],
  harmlessWhenLate: true,
});

/** The longest reason that is stored, UTF-16 units: its length in bytes has 16 bits. What is longer is cut. */
const longestReason = 16_000;

/** Moves messages whose leases are still held to the dead letters; the delivery counts as an attempt. */
export async function bury(
  evaluator: Evaluator,
  keys: QueueKeys,
  burials: readonly Burial[],
  bounded = unbounded,
): Promise<Settlement[]> {
  return await settle(evaluator, burials, {
    script,
    keys: script.keysIn(keys),
    args: boundArgs(bounded),
    onRest: (rest) => tellDropped(bounded, rest, script.name),
    itemArgs: ({ reason, error }) => [reason.slice(0, longestReason), Buffer.from(failureText(error))],
  });
}
