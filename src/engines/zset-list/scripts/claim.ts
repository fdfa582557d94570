import type { ClaimRequest, ClaimResult } from "../../../engine.js";
import { bySequence, readClaim } from "../../../scripting/claimed.js";
import { asText } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { headAtOf, type Look } from "../line-keys.js";
import type { ReliableKeys } from "../reliable-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("claim", sources["claim"], {
  keys: ["schedule", "ready", "hand", "hands", "messages", "standing", "leases", "dead", "claims", "state", "waiting"],
  harmlessWhenLate: true,
});

/** Messages that one call takes at most. */
const mostAtOnce = 250;

/** A claim and what it saw besides. */
export interface LineClaim {
  readonly result: ClaimResult;
  readonly look: Look;
  /** The consumer whose hand is to be swept, if any is. */
  readonly overdue: string | undefined;
}

/**
 * Gives leases on what is due. `order` grows with each claim of a consumer: one that was held up on its way and arrives
 * after a later one is refused. Repeated with its token, it gives the same leases again. `name`: what the consumer is
 * called in Redis.
 */
export async function claim(
  evaluator: Evaluator,
  keys: ReliableKeys,
  { consumer, limit, lease, token, attempts, order, returns = true }: ClaimRequest & { readonly order: number },
  name: string,
): Promise<LineClaim> {
  const names = script.keysIn({ ...keys, hand: keys.handOf(consumer) });
  const args = [
    name,
    consumer,
    String(order),
    token,
    String(Math.min(limit, mostAtOnce)),
    limit > mostAtOnce ? "1" : "0",
    returns ? "1" : "0",
    String(Math.ceil(lease)),
    String(Math.min(attempts, 0xffffffff)),
    keys.channel,
  ];
  const { result, rest } = await readClaim({
    evaluate: (place) => evaluator.evaluate(script, names, [...args, place]),
    between: 2,
    attempts,
    order: bySequence,
  });
  const [headAt, late] = rest;
  const overdue = asText(late, "claim: overdue");
  return {
    result,
    look: { now: result.now, nextAt: result.nextAt, headAt: headAtOf(headAt, "claim: headAt") },
    overdue: overdue === "" ? undefined : overdue,
  };
}
