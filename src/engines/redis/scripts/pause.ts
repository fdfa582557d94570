import type { QueueKeys } from "../keys.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { sources } from "./sources.generated.js";

const script = defineScript("pause", sources["pause"], {
  keys: ["schedule", "state"],
});

/** Stops claims from taking messages. Doing it twice is doing it once, so a lost reply does not matter. */
export async function pause(evaluator: Evaluator, keys: QueueKeys): Promise<void> {
  await evaluator.evaluate(script, script.keysIn(keys), []);
}
