import type { Release, Settlement } from "../../../engine.js";
import type { QueueKeys } from "../keys.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { settle } from "../../../scripting/settle.js";
import { sources } from "./sources.generated.js";

const script = defineScript("release", sources["release"], { harmlessWhenLate: true });
const keyNames = ["schedule", "leases", "leased", "state", "waiting"] as const satisfies readonly (keyof QueueKeys)[];

/** Gives leases that are still held back, no attempt used; without a delay the messages keep their due time and place. */
export async function release(
  evaluator: Evaluator,
  keys: QueueKeys,
  releases: readonly Release[],
): Promise<Settlement[]> {
  return await settle(evaluator, releases, {
    script,
    keys: keyNames.map((name) => keys[name]),
    args: [keys.channel],
    itemArgs: ({ delay }) => [delay === undefined ? "" : String(delay)],
  });
}
