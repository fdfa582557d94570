import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { ReliableKeys } from "../reliable-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("sweep", sources["sweep"], {
  keys: ["schedule", "hand", "hands", "state", "waiting"],
  harmlessWhenLate: true,
});

/** Puts back what a consumer popped and has not claimed since, when its time is over or, if asked to, at once. */
export async function sweep(evaluator: Evaluator, keys: ReliableKeys, consumer: string, atOnce = false): Promise<void> {
  const names = script.keysIn({ ...keys, hand: keys.handOf(consumer) });
  await evaluator.evaluate(script, names, [keys.channel, consumer, atOnce ? "1" : "0"]);
}
