import type { CallOptions } from "../../../engine.js";
import type { QueueKeys } from "../keys.js";
import { defineScript, type Evaluator } from "../script.js";
import { sources } from "./sources.generated.js";

const script = defineScript("leave", sources["leave"], { harmlessWhenLate: true });
const keyNames = ["schedule", "claims", "state", "waiting"] as const satisfies readonly (keyof QueueKeys)[];

/** Takes a consumer off the books and passes on what it was to look after. Doing it twice is doing it once. */
export async function leave(
  evaluator: Evaluator,
  keys: QueueKeys,
  consumer: string,
  options?: CallOptions,
): Promise<void> {
  await evaluator.evaluate(
    script,
    keyNames.map((name) => keys[name]),
    [consumer, keys.channel],
    options,
  );
}
