import type { ClaimRequest } from "../../../engine.js";
import { idsIn } from "../../../schemes/ids-in.js";
import { asArray, asBytes, asNumber } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { headAtOf, type Look, type LineKeys } from "../line-keys.js";
import { sources } from "./sources.generated.js";

// One that hung on its way and came to run after a later claim would take messages that nobody hears of.
const script = defineScript("take", sources["take"], { keys: ["schedule", "ready", "claims", "state", "waiting"] });

/** Messages that one call takes at most. */
const mostAtOnce = 250;

/** What a call took, and what it saw. */
export interface LineTake extends Look {
  readonly entries: readonly Buffer[];
  readonly paused: boolean;
  /** The ids of what an attempt of this call took whose reply was lost: nobody has it. Then nothing else was taken. */
  readonly lost: readonly string[];
}

/**
 * Moves what is due to the list, and takes from it. What it gives is out of Redis, so what an attempt took whose reply was lost
 * is lost. `call` names the call among all that the consumer ever makes.
 */
export async function take(
  evaluator: Evaluator,
  keys: LineKeys,
  { consumer, limit, returns = true }: Pick<ClaimRequest, "consumer" | "limit" | "returns">,
  call: string,
): Promise<LineTake> {
  const { reply } = await evaluator.evaluate(script, script.keysIn(keys), (again) => [
    consumer,
    keys.channel,
    String(Math.min(limit, mostAtOnce)),
    limit > mostAtOnce ? "1" : "0",
    returns ? "1" : "0",
    call,
    again ? "1" : "0",
  ]);
  const [now, nextAt, headAt, entries, paused, lost] = asArray(reply, "take");
  return {
    now: asNumber(now, "take: now"),
    nextAt: asNumber(nextAt, "take: nextAt"),
    headAt: headAtOf(headAt, "take: headAt"),
    entries: asArray(entries, "take: entries").map((entry) => asBytes(entry, "take: entry")),
    paused: asNumber(paused, "take: paused") === 1,
    lost: idsIn(asBytes(lost, "take: lost")),
  };
}
