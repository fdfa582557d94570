import type { OpenOptions, Retry, Settlement } from "../../../engine.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { settle } from "../../../scripting/settle.js";
import { tellGivenUp } from "../given-up.js";
import type { DelayqueueKeys } from "../keys.js";
import { failureText } from "../../../scripting/failure-text.js";
import { sources } from "./sources.generated.js";

const script = defineScript("retry", sources["retry"], {
  keys: ["pending", "unack", "counts", "garbage", "messages", "notes", "state", "waiting"],
  harmlessWhenLate: true,
});

/** How long payloads stay after a new due time, ms, and who hears of what is given up. */
export interface RetryOptions {
  readonly keep: number;
  readonly onDropped: OpenOptions["onDropped"];
}

/** Makes messages whose leases are still held due again later, one attempt used; gives up those that have none left. */
export async function retry(
  evaluator: Evaluator,
  keys: DelayqueueKeys,
  retries: readonly Retry[],
  { keep, onDropped }: RetryOptions,
): Promise<Settlement[]> {
  return await settle(evaluator, retries, {
    script,
    keys: script.keysIn(keys),
    args: [keys.channel, keys.events, String(keep)],
    itemArgs: ({ delay, error }) => [String(delay), failureText(error)],
    onRest: (rest) => tellGivenUp(rest, onDropped, "retry"),
  });
}
