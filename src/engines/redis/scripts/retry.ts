import type { Retry, Settlement } from "../../../engine.js";
import type { QueueKeys } from "../keys.js";
import { encodeError } from "../message-format.js";
import { defineScript, type Evaluator } from "../script.js";
import { unbounded } from "./dropped.js";
import { settle } from "./settle.js";
import { sources } from "./sources.generated.js";

const script = defineScript("retry", sources["retry"], { harmlessWhenLate: true });
const keyNames = [
  "schedule",
  "messages",
  "leases",
  "leased",
  "failures",
  "dead",
  "state",
  "waiting",
  "gone",
] as const satisfies readonly (keyof QueueKeys)[];

/** Makes messages whose leases are still held due again later, one attempt used; buries those that have none left. */
export async function retry(
  evaluator: Evaluator,
  keys: QueueKeys,
  retries: readonly Retry[],
  bounded = unbounded,
): Promise<Settlement[]> {
  return await settle(evaluator, retries, {
    script,
    keys: keyNames.map((name) => keys[name]),
    args: [keys.channel],
    bounded,
    itemArgs: ({ delay, error }) => [String(delay), error === undefined ? "" : encodeError(error)],
  });
}
