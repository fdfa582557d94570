import { asArray, asText } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { ReliableKeys } from "../reliable-keys.js";
import { sources } from "./sources.generated.js";
import { sweep } from "./sweep.js";

const script = defineScript("hands", sources["hands"], { keys: ["hands", "state"], harmlessWhenLate: true });

/**
 * Puts back what consumers popped and have not claimed yet. It does no harm to those that are alive: they find it where all
 * messages wait.
 */
export async function emptyHands(evaluator: Evaluator, keys: ReliableKeys): Promise<void> {
  const { reply } = await evaluator.evaluate(script, script.keysIn(keys), []);
  const names = asArray(asArray(reply, "hands")[1], "hands").map((name) => asText(name, "hands: consumer"));
  for (const name of names) await sweep(evaluator, keys, name, "at-once");
}
