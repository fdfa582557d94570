import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { KeyExpiryKeys } from "../keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("resume", sources["resume"], { keys: ["state"] });

/** Ends a pause and tells it to all consumers. Doing it twice is doing it once, so a lost reply does not matter. */
export async function resume(evaluator: Evaluator, keys: KeyExpiryKeys): Promise<void> {
  await evaluator.evaluate(script, script.keysIn(keys), [keys.told]);
}
