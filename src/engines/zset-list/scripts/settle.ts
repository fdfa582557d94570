import type { FailureRecord, Receipt, Settlement } from "../../../engine.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { failureText } from "../../../scripting/failure-text.js";
import { settle as settleItems } from "../../../scripting/settle.js";
import type { ReliableKeys } from "../reliable-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("settle", sources["settle"], {
  keys: ["schedule", "messages", "standing", "leases", "dead", "state", "waiting", "gone"],
  harmlessWhenLate: true,
});

const letters = { acknowledge: "a", retry: "t", release: "r", bury: "b" } as const;

/** What ends a lease, with all that any of the verbs says. */
export interface Ending extends Receipt {
  readonly delay?: number | undefined;
  readonly reason?: string | undefined;
  readonly error?: FailureRecord | undefined;
}

/** Ends leases that are still held. */
export async function settle(
  evaluator: Evaluator,
  keys: ReliableKeys,
  verb: keyof typeof letters,
  endings: readonly Ending[],
): Promise<Settlement[]> {
  return await settleItems(evaluator, endings, {
    script,
    keys: script.keysIn(keys),
    args: [keys.channel, letters[verb]],
    itemArgs: ({ delay, reason = "", error }) => [delay === undefined ? "" : String(delay), reason, failureText(error)],
  });
}
