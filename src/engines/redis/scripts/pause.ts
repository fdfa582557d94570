import type { QueueKeys } from "../keys.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { sources } from "./sources.generated.js";

const script = defineScript("pause", sources["pause"]);
const keyNames = ["schedule", "state"] as const satisfies readonly (keyof QueueKeys)[];

/** Stops claims from taking messages. Doing it twice is doing it once, so a lost reply does not matter. */
export async function pause(evaluator: Evaluator, keys: QueueKeys): Promise<void> {
  await evaluator.evaluate(
    script,
    keyNames.map((name) => keys[name]),
    [],
  );
}
