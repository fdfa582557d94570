import type { QueueKeys } from "../keys.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { sources } from "./sources.generated.js";

const script = defineScript("resume", sources["resume"], {
  keys: ["schedule", "state", "waiting"],
});

/** Ends a pause and wakes a consumer. Doing it twice is doing it once, so a lost reply does not matter. */
export async function resume(evaluator: Evaluator, keys: QueueKeys): Promise<void> {
  await evaluator.evaluate(script, script.keysIn(keys), [keys.channel]);
}
