import type { Claimed, ClaimRequest, ClaimResult } from "../../../engine.js";
import type { QueueKeys } from "../keys.js";
import { decodeMessage } from "../message-format.js";
import { asArray, asBytes, asNumber, asRows, asText } from "../../../scripting/reply.js";
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
  const { reply } = await evaluator.evaluate(script, script.keysIn(keys), [
    consumer,
    String(order),
    token,
    String(Math.min(limit, mostAtOnce)),
    limit > mostAtOnce ? "1" : "0",
    String(Math.ceil(lease)),
    String(Math.min(attempts, 0xffffffff)),
    keys.channel,
    returns ? "1" : "0",
    ...boundArgs(bounded),
  ]);
  const [now, leaseUntil, nextAt, taken, buried, missing, ...dropped] = asArray(reply, "claim");
  tellDropped(bounded, dropped, "claim");
  return {
    now: asNumber(now, "claim: now"),
    leaseUntil: asNumber(leaseUntil, "claim: leaseUntil"),
    nextAt: asNumber(nextAt, "claim: nextAt"),
    messages: asRows(taken, 4, "claim: messages").map((row) => readMessage(row, attempts)),
    buried: asRows(buried, 2, "claim: buried").map(([id, reason]) => ({
      id: asText(id, "claim: buried id"),
      reason: asText(reason, "claim: buried reason"),
    })),
    missing: asArray(missing, "claim: missing").map((id) => asText(id, "claim: missing id")),
  };
}

function readMessage([id, due, value, failed]: ReturnType<typeof asArray>, limit: number): Claimed {
  const { payload, attempts, headers } = decodeMessage(asBytes(value, "claim: value"));
  return {
    id: asText(id, "claim: id"),
    payload,
    dueAt: asNumber(due, "claim: due"),
    attempt: asNumber(failed, "claim: attempts") + 1,
    attempts: attempts ?? limit,
    headers,
  };
}
