import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { Groups } from "../groups.js";
import { sources } from "./sources.generated.js";

const script = defineScript("resume", sources["resume"], { keys: ["groups", "queue"] });

/** Ends a pause and wakes every group. Doing it twice is doing it once, so a lost reply does not matter. */
export async function resume(evaluator: Evaluator, groups: Groups): Promise<void> {
  await groups.evaluate(evaluator, script, () => []);
}
