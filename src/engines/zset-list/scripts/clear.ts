import { asArray, asNumber } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { Count } from "../../../scripting/done-count.js";
import type { LineKeys } from "../line-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("clear", sources["clear"], { keys: ["schedule", "ready", "state"] });

/** Deletes all that waits, and counts it. */
export async function clear(evaluator: Evaluator, keys: LineKeys, count: Count): Promise<void> {
  const { reply, uncertain } = await evaluator.evaluate(script, script.keysIn(keys), []);
  count(asNumber(asArray(reply, "clear")[1], "clear: count"), uncertain);
}
