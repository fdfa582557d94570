import { defineScript, type Evaluator } from "../../scripting/script.js";
import { type MemberKeys, withParked } from "../member-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("pause", sources["pause"], { keys: ["schedule", "state", "parked"] });

/** Stops claims from taking messages. Doing it twice is doing it once, so a lost reply does not matter. */
export async function pause(evaluator: Evaluator, keys: MemberKeys): Promise<void> {
  await evaluator.evaluate(script, script.keysIn(withParked(keys)), []);
}
