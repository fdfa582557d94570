import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { DelayqueueKeys } from "../keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("pause", sources["pause"], { keys: ["pending", "state"] });

/** Stops claims of this library. Doing it twice is doing it once, so a lost reply does not matter. */
export async function pause(evaluator: Evaluator, keys: DelayqueueKeys): Promise<void> {
  await evaluator.evaluate(script, script.keysIn(keys), []);
}
