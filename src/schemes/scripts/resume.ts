import { defineScript, type Evaluator } from "../../scripting/script.js";
import { type MemberKeys, withParked } from "../member-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("resume", sources["resume"], { keys: ["schedule", "state", "waiting", "parked"] });

/** Ends a pause and wakes a consumer. Doing it twice is doing it once, so a lost reply does not matter. */
export async function resume(evaluator: Evaluator, keys: MemberKeys): Promise<void> {
  await evaluator.evaluate(script, script.keysIn(withParked(keys)), [keys.channel]);
}
