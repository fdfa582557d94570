import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { StreamKeys } from "../keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("pause", sources["pause"], { keys: ["schedule", "queue"] });

/** Stops the claims of all groups. Doing it twice is doing it once, so a lost reply does not matter. */
export async function pause(evaluator: Evaluator, keys: StreamKeys): Promise<void> {
  await evaluator.evaluate(script, script.keysIn(keys), []);
}
