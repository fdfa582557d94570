import type { CallOptions } from "../engine.js";
import { defineScript, type Evaluator } from "../scripting/script.js";
import type { WakingKeys } from "./keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("leave", sources["leave"], {
  keys: ["claims", "state", "waiting"],
  harmlessWhenLate: true,
});

/** Takes a consumer off the books and passes on what it was to look after. Doing it twice is doing it once. */
export async function leave(
  evaluator: Evaluator,
  keys: WakingKeys,
  consumer: string,
  options?: CallOptions,
): Promise<void> {
  await evaluator.evaluate(script, script.keysIn(keys), [consumer, keys.channel], options);
}
