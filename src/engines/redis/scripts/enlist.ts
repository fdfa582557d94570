import type { CallOptions } from "../../../engine.js";
import type { QueueKeys } from "../keys.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { sources } from "./sources.generated.js";

const script = defineScript("enlist", sources["enlist"], { keys: ["messages", "state"], harmlessWhenLate: true });

/**
 * Notes into how many partitions a queue is split; `keys` are those that it has when it is not. Fails with `misconfigured` when
 * another number was noted before.
 */
export async function enlist(
  evaluator: Evaluator,
  keys: QueueKeys,
  partitions: number,
  options?: CallOptions,
): Promise<void> {
  await evaluator.evaluate(script, script.keysIn(keys), [String(partitions)], options);
}
