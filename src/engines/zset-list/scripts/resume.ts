import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { LineKeys } from "../line-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("resume", sources["resume"], { keys: ["schedule", "state", "waiting"] });

/** Ends a pause. Doing it twice is doing it once, so a lost reply does not matter. */
export async function resume(evaluator: Evaluator, keys: LineKeys): Promise<void> {
  await evaluator.evaluate(script, script.keysIn(keys), [keys.channel]);
}
