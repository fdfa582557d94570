import { asArray, asNumber } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { LineKeys } from "../line-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("pause", sources["pause"], { keys: ["schedule", "ready", "state"] });

/** Stops claims from taking messages. Doing it twice is doing it once, so a lost reply does not matter. */
export async function pause(evaluator: Evaluator, keys: LineKeys): Promise<void> {
  for (let left = 1; left > 0;) {
    const { reply } = await evaluator.evaluate(script, script.keysIn(keys), []);
    left = asNumber(asArray(reply, "pause")[1], "pause: left");
  }
}
