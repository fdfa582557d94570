import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { KeyExpiryKeys } from "../keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("pause", sources["pause"], { keys: ["ids", "state"] });

/** Stops claims from taking messages. Doing it twice is doing it once, so a lost reply does not matter. */
export async function pause(evaluator: Evaluator, keys: KeyExpiryKeys): Promise<void> {
  await evaluator.evaluate(script, script.keysIn(keys), []);
}
