import type { Retry, Settlement } from "../../../engine.js";
import type { QueueKeys } from "../keys.js";
import { failureText } from "../../../scripting/failure-text.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { boundArgs, tellDropped, unbounded } from "./dropped.js";
import { settle } from "../../../scripting/settle.js";
import { sources } from "./sources.generated.js";

const script = defineScript("retry", sources["retry"], {
  keys: ["schedule", "messages", "leases", "leased", "failures", "dead", "state", "waiting", "gone"],
  harmlessWhenLate: true,
});

/** Makes messages whose leases are still held due again later, one attempt used; buries those that have none left. */
export async function retry(
  evaluator: Evaluator,
  keys: QueueKeys,
  retries: readonly Retry[],
  bounded = unbounded,
): Promise<Settlement[]> {
  return await settle(evaluator, retries, {
    script,
    keys: script.keysIn(keys),
    args: [keys.channel, ...boundArgs(bounded)],
    onRest: (rest) => tellDropped(bounded, rest, script.name),
    itemArgs: ({ delay, error }) => [String(delay), Buffer.from(failureText(error))],
  });
}
