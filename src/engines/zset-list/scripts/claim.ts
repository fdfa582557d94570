import type { ClaimResult } from "../../../engine.js";
import { bySequence, type ClaimCall, claimArgs, readClaim } from "../../../scripting/claimed.js";
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
 * Gives leases on what is due. Repeated with its token, it gives the same leases again. `name`: what the consumer is called in
 * Redis; its hand is called as it calls itself.
 */
export async function claim(
  evaluator: Evaluator,
  keys: ReliableKeys,
  request: ClaimCall,
  name: string,
): Promise<LineClaim> {
  const { consumer, attempts } = request;
  const names = script.keysIn({ ...keys, hand: keys.handOf(consumer) });
  const args = [...claimArgs({ ...request, consumer: name }, keys.channel, mostAtOnce), consumer];
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
