import type { ClaimResult } from "../../../engine.js";
import { type ClaimCall, claimArgs, readClaim } from "../../../scripting/claimed.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { StreamKeys } from "../keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("claim", sources["claim"], {
  keys: [
    "schedule",
    "messages",
    "moved",
    "lost",
    "stream",
    "groups",
    "queue",
    "leases",
    "again",
    "copies",
    "dead",
    "failures",
    "claims",
    "state",
    "waiting",
  ],
  harmlessWhenLate: true,
});

/**
 * Messages at most that one claim takes, so that it stays under 5 ms (promise 9): 100 took 1.6 ms (mean), and up to three
 * times that on a busy machine.
 */
const mostAtOnce = 150;

/**
 * Takes due messages for a group. A repeated claim, after a lost reply, gets the leases of its token again. A consumer that holds
 * nothing and has been silent for `silence` ms is taken off the group.
 */
export async function claim(
  evaluator: Evaluator,
  keys: StreamKeys,
  group: string,
  request: ClaimCall,
  silence = 60_000,
): Promise<ClaimResult> {
  const args = [group, ...claimArgs(request, keys.channel, mostAtOnce)];
  // Leases that end in one ms lie in the order of their messages.
  const { result } = await readClaim({
    evaluate: (place) => evaluator.evaluate(script, script.keysIn(keys), [...args, place, String(silence)]),
    attempts: request.attempts,
  });
  return result;
}
