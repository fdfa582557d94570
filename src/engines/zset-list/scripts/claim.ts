import type { Reply } from "../../../clients/port.js";
import type { Claimed, ClaimRequest, ClaimResult } from "../../../engine.js";
import { decodeBody } from "../../../scripting/message-body.js";
import { asArray, asBytes, asNumber, asRows, asText } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { headAtOf, type Look } from "../line-keys.js";
import { type ReliableKeys, sequenceLength } from "../reliable-keys.js";
import { sources } from "./sources.generated.js";

// One that hung on its way and came to run after a later claim would give leases that nobody hears of.
const script = defineScript("claim", sources["claim"], {
  keys: ["schedule", "ready", "hand", "hands", "messages", "standing", "leases", "dead", "claims", "state", "waiting"],
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

/** Gives leases on what is due. Repeated with its token, it gives the same ones again. */
export async function claim(
  evaluator: Evaluator,
  keys: ReliableKeys,
  { consumer, limit, lease, token, attempts, returns = true }: ClaimRequest,
  name: string,
): Promise<LineClaim> {
  const { reply } = await evaluator.evaluate(script, script.keysIn({ ...keys, hand: keys.handOf(consumer) }), [
    name,
    consumer,
    token,
    String(Math.min(limit, mostAtOnce)),
    limit > mostAtOnce ? "1" : "0",
    returns ? "1" : "0",
    String(Math.ceil(lease)),
    String(Math.min(attempts, 0xffffffff)),
    keys.channel,
  ]);
  const [time, until, next, headAt, taken, buried, missing, late] = asArray(reply, "claim");
  const now = asNumber(time, "claim: now");
  const nextAt = asNumber(next, "claim: nextAt");
  const overdue = asText(late, "claim: overdue");
  return {
    look: { now, nextAt, headAt: headAtOf(headAt, "claim: headAt") },
    overdue: overdue === "" ? undefined : overdue,
    result: {
      now,
      nextAt,
      leaseUntil: asNumber(until, "claim: leaseUntil"),
      messages: asRows(taken, 4, "claim: messages").map((row) => readMessage(row, attempts)),
      buried: asRows(buried, 2, "claim: buried").map(([id, reason]) => ({
        id: asText(id, "claim: buried id"),
        reason: asText(reason, "claim: buried reason"),
      })),
      missing: asArray(missing, "claim: missing").map((id) => asText(id, "claim: missing id")),
    },
  };
}

function readMessage([id, due, value, delivered]: readonly Reply[], limit: number): Claimed {
  const { payload, attempts, headers } = decodeBody(asBytes(value, "claim: value"), sequenceLength);
  return {
    id: asText(id, "claim: id"),
    payload,
    dueAt: asNumber(due, "claim: due"),
    attempt: asNumber(delivered, "claim: deliveries") + 1,
    attempts: attempts ?? limit,
    headers,
  };
}
