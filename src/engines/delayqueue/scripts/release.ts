import type { Release, Settlement } from "../../../engine.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { settle } from "../../../scripting/settle.js";
import type { DelayqueueKeys } from "../keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("release", sources["release"], {
  keys: ["pending", "unack", "messages", "notes", "state", "waiting"],
  harmlessWhenLate: true,
});

/** Gives leases that are still held back, no attempt used. `keep`: how long payloads stay after a new due time, ms. */
export async function release(
  evaluator: Evaluator,
  keys: DelayqueueKeys,
  releases: readonly Release[],
  keep: number,
): Promise<Settlement[]> {
  return await settle(evaluator, releases, {
    script,
    keys: script.keysIn(keys),
    args: [keys.channel, String(keep)],
    itemArgs: ({ delay }) => [delay === undefined ? "" : String(delay)],
  });
}
