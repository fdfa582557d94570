import type { ClaimRequest, ClaimResult } from "../../../engine.js";
import type { QueueKeys } from "../keys.js";
import { sequenceLength } from "../../../scripting/message-body.js";
import { readClaim } from "../../../scripting/claimed.js";
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
 * Takes due messages. `order` grows with each claim of a consumer: a claim that was held up on its way and arrives after a
 * later one is refused. A repeated claim, after a lost reply, gets the leases of its token again, so the answer is the same
 * whether the evaluation was uncertain or not.
 */
export async function claim(
  evaluator: Evaluator,
  keys: QueueKeys,
  { consumer, token, limit, lease, attempts, order, returns = true }: ClaimRequest & { readonly order: number },
  bounded = unbounded,
): Promise<ClaimResult> {
  const args = [
    consumer,
    String(order),
    token,
    String(Math.min(limit, mostAtOnce)),
    limit > mostAtOnce ? "1" : "0",
    String(Math.ceil(lease)),
    String(Math.min(attempts, 0xffffffff)),
    keys.channel,
    returns ? "1" : "0",
  ];
  const { result, rest } = await readClaim({
    evaluate: (place) => evaluator.evaluate(script, script.keysIn(keys), [...args, place, ...boundArgs(bounded)]),
    between: 2,
    attempts,
    order: bySequence,
  });
  tellDropped(bounded, rest, "claim");
  return result;
}

/** Values begin with the sequence numbers of their messages. */
function bySequence(one: Buffer, other: Buffer): number {
  return one.compare(other, 0, sequenceLength, 0, sequenceLength);
}
