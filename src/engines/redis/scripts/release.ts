import type { Release, Settlement } from "../../../engine.js";
import type { QueueKeys } from "../keys.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { settle } from "../../../scripting/settle.js";
import { sources } from "./sources.generated.js";

const script = defineScript("release", sources["release"], {
  keys: ["schedule", "leases", "leased", "state", "waiting"],
  harmlessWhenLate: true,
});

/** Gives leases that are still held back, no attempt used; without a delay the messages keep their due time and place. */
export async function release(
  evaluator: Evaluator,
  keys: QueueKeys,
  releases: readonly Release[],
): Promise<Settlement[]> {
  return await settle(evaluator, releases, {
    script,
    keys: script.keysIn(keys),
    args: [keys.channel],
    itemArgs: ({ delay }) => [delay === undefined ? "" : String(delay)],
  });
}
