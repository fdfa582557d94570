import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { ReliableKeys } from "../reliable-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("sweep", sources["sweep"], {
  keys: ["schedule", "hand", "hands", "state", "waiting"],
  harmlessWhenLate: true,
});

/** Puts back what a consumer popped and has not claimed since. */
export async function sweep(evaluator: Evaluator, keys: ReliableKeys, consumer: string): Promise<void> {
  const names = script.keysIn({ ...keys, hand: keys.handOf(consumer) });
  await evaluator.evaluate(script, names, [keys.channel, consumer]);
}
