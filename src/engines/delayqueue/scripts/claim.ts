import type { Reply } from "../../../clients/port.js";
import type { Claimed, ClaimRequest, ClaimResult, OpenOptions } from "../../../engine.js";
import { asArray, asBytes, asNumber, asRows, asText } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { DelayqueueKeys } from "../keys.js";
import { readHeaders } from "../note-text.js";
import { sources } from "./sources.generated.js";

const script = defineScript("claim", sources["claim"], {
  keys: ["pending", "ready", "unack", "retry", "counts", "garbage", "messages", "notes", "claims", "state", "waiting"],
  harmlessWhenLate: true,
});

/**
 * Messages at most that one claim takes, so that it stays under 5 ms (promise 9). Each costs two commands of its own,
 * for its size and for its note. On a busy machine 250 took Redis 6 to 14 ms.
 */
const mostAtOnce = 100;

/** What the engine adds to what a consumer asks for. */
export interface ClaimOptions {
  /** Grows with each claim of a consumer: one that was held up and arrives after a later one is refused. */
  readonly order: number;
  /** How often to look for what programs of the Go library wrote, ms. */
  readonly interval: number;
  /** How long a note is kept after the lease, ms. */
  readonly keep: number;
  readonly onDropped: OpenOptions["onDropped"];
}

/** Takes due messages. A repeated claim gets the leases of its token again, so a lost reply does no harm. */
export async function claim(
  evaluator: Evaluator,
  keys: DelayqueueKeys,
  { consumer, token, limit, lease, attempts, returns = true }: ClaimRequest,
  { order, interval, keep, onDropped }: ClaimOptions,
): Promise<ClaimResult> {
  const { reply } = await evaluator.evaluate(script, script.keysIn(keys), [
    consumer,
    String(order),
    token,
    String(Math.min(limit, mostAtOnce)),
    limit > mostAtOnce ? "1" : "0",
    String(Math.ceil(lease)),
    String(Math.min(attempts, 2 ** 31)),
    keys.channel,
    returns ? "1" : "0",
    keys.events,
    String(interval),
    String(keep),
  ]);
  const [now, leaseUntil, nextAt, taken, given, total] = asArray(reply, "claim");
  const buried = asRows(given, 2, "claim: given up").map(([id, reason]) => ({
    id: asText(id, "claim: id given up"),
    reason: asText(reason, "claim: reason"),
  }));
  if (buried.length > 0) onDropped?.({ ids: buried.map(({ id }) => id), total: asNumber(total, "claim: total") });
  return {
    now: asNumber(now, "claim: now"),
    leaseUntil: asNumber(leaseUntil, "claim: leaseUntil"),
    nextAt: asNumber(nextAt, "claim: nextAt"),
    messages: asRows(taken, 6, "claim: messages").map(readMessage),
    buried,
    missing: [],
  };
}

function readMessage([id, due, payload, counted, retries, headers]: readonly Reply[]): Claimed {
  const attempt = asNumber(counted, "claim: attempts") + 1;
  return {
    id: asText(id, "claim: id"),
    payload: asBytes(payload, "claim: payload"),
    dueAt: asNumber(due, "claim: due"),
    attempt,
    attempts: attempt + asNumber(retries, "claim: retries"),
    headers: readHeaders(asText(headers, "claim: headers")),
  };
}
