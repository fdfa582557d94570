import type { ClaimResult } from "../../../engine.js";
import type { QueueKeys } from "../keys.js";
import { bySequence, type ClaimCall, claimArgs, readClaim } from "../../../scripting/claimed.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { boundArgs, tellDropped, unbounded } from "./dropped.js";
import { sources } from "./sources.generated.js";

const script = defineScript("claim", sources["claim"], {
  keys: ["schedule", "messages", "leases", "leased", "failures", "dead", "claims", "state", "waiting", "gone"],
  harmlessWhenLate: true,
});

/**
 * Messages at most that one claim takes, so that it stays under 5 ms with payloads of 1 KiB (promise 9): 500 took 3.8 ms, with
 * payloads of 1 KiB 4.9 ms, and 19 in 20 took up to 6.9 ms. Redis spends it on look-ups in hashes larger than its caches.
 */
const mostAtOnce = 250;

/**
 * Takes due messages. A repeated claim, after a lost reply, gets the leases of its token again, so the answer is the same
 * whether the evaluation was uncertain or not.
 */
export async function claim(
  evaluator: Evaluator,
  keys: QueueKeys,
  request: ClaimCall,
  bounded = unbounded,
): Promise<ClaimResult> {
  const args = claimArgs(request, keys.channel, mostAtOnce);
  const { result, rest } = await readClaim({
    evaluate: (place) => evaluator.evaluate(script, script.keysIn(keys), [...args, place, ...boundArgs(bounded)]),
    between: 2,
    attempts: request.attempts,
    order: bySequence,
  });
  tellDropped(bounded, rest, "claim");
  return result;
}
