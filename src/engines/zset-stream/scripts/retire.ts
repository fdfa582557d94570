import type { CallOptions } from "../../../engine.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { StreamKeys } from "../keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("retire", sources["retire"], { keys: ["stream", "queue"], harmlessWhenLate: true });

/** Takes a consumer that leaves off the group, unless it still holds something; then whoever takes that over does it. */
export async function retire(
  evaluator: Evaluator,
  keys: StreamKeys,
  { group, consumer }: { readonly group: string; readonly consumer: string },
  options?: CallOptions,
): Promise<void> {
  await evaluator.evaluate(script, script.keysIn(keys), [group, consumer], options);
}
