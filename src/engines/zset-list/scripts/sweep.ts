import type { CallOptions } from "../../../engine.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { ReliableKeys } from "../reliable-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("sweep", sources["sweep"], {
  keys: ["schedule", "hand", "hands", "state", "waiting"],
  harmlessWhenLate: true,
});

/**
 * Which hands are emptied: one whose consumer is overdue, so that it is dead; one at once; or one at once that will never be used
 * again, since its consumer has left.
 */
export type Sweep = "overdue" | "at-once" | "left";

/** Puts back what a consumer popped and has not claimed since. */
export async function sweep(
  evaluator: Evaluator,
  keys: ReliableKeys,
  consumer: string,
  which: Sweep = "overdue",
  options?: CallOptions,
): Promise<void> {
  const names = script.keysIn({ ...keys, hand: keys.handOf(consumer) });
  await evaluator.evaluate(script, names, [keys.channel, consumer, which], options);
}
