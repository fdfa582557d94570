import type { ClaimRequest } from "../../../engine.js";
import { asArray, asBytes, asNumber } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { headAtOf, type Look, type LineKeys } from "../line-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("take", sources["take"], {
  keys: ["schedule", "ready", "claims", "state", "waiting"],
  harmlessWhenLate: true,
});

/** Messages that one call takes at most. */
const mostAtOnce = 250;

/**
 * Moves what is due to the list, and takes from it. What it gives is out of Redis: after a lost reply it is lost, so an attempt
 * that hung on its way and runs late loses no more than one that runs at once.
 */
export async function take(
  evaluator: Evaluator,
  keys: LineKeys,
  { consumer, limit, returns = true }: Pick<ClaimRequest, "consumer" | "limit" | "returns">,
): Promise<Look & { readonly entries: readonly Buffer[]; readonly paused: boolean }> {
  const { reply } = await evaluator.evaluate(script, script.keysIn(keys), [
    consumer,
    keys.channel,
    String(Math.min(limit, mostAtOnce)),
    limit > mostAtOnce ? "1" : "0",
    returns ? "1" : "0",
  ]);
  const [now, nextAt, headAt, entries, paused] = asArray(reply, "take");
  return {
    now: asNumber(now, "take: now"),
    nextAt: asNumber(nextAt, "take: nextAt"),
    headAt: headAtOf(headAt, "take: headAt"),
    entries: asArray(entries, "take: entries").map((entry) => asBytes(entry, "take: entry")),
    paused: asNumber(paused, "take: paused") === 1,
  };
}
