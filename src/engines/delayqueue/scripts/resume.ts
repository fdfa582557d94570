import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { DelayqueueKeys } from "../keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("resume", sources["resume"], { keys: ["pending", "state", "waiting"] });

/** Ends a pause. Doing it twice is doing it once, so a lost reply does not matter. */
export async function resume(evaluator: Evaluator, keys: DelayqueueKeys): Promise<void> {
  await evaluator.evaluate(script, script.keysIn(keys), [keys.channel]);
}
