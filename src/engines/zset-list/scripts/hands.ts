import { asArray, asText } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { ReliableKeys } from "../reliable-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("hands", sources["hands"], { keys: ["hands", "state"], harmlessWhenLate: true });

/** The consumers that may have something in their hands, those that are overdue first. */
export async function handsOf(evaluator: Evaluator, keys: ReliableKeys): Promise<string[]> {
  const { reply } = await evaluator.evaluate(script, script.keysIn(keys), []);
  return asArray(asArray(reply, "hands")[1], "hands").map((name) => asText(name, "hands: consumer"));
}
