import type { CommandArgument, Reply } from "../../../clients/port.js";
import type { Claimed, ClaimRequest, ClaimResult, OpenOptions } from "../../../engine.js";
import { claimArgs } from "../../../scripting/claimed.js";
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
  request: ClaimRequest,
  { order, interval, keep, onDropped }: ClaimOptions,
): Promise<ClaimResult> {
  const attempts = Math.min(request.attempts, 2 ** 31);
  const args = claimArgs({ ...request, attempts, order }, keys.channel, mostAtOnce);
  const taken: Reply[][] = [];
  let place: CommandArgument = "";
  let elements: readonly Reply[];
  // One that is made again may come in pieces.
  do {
    const more = [place, keys.events, String(interval), String(keep)];
    const { reply } = await evaluator.evaluate(script, script.keysIn(keys), [...args, ...more]);
    elements = asArray(reply, "claim");
    taken.push(...asRows(elements[3], 6, "claim: messages"));
    place = elements[6] === undefined ? "" : asBytes(elements[6], "claim: place");
  } while (place.length > 0);
  const [now, leaseUntil, nextAt, , given, total] = elements;
  const buried = asRows(given, 2, "claim: given up").map(([id, reason]) => ({
    id: asText(id, "claim: id given up"),
    reason: asText(reason, "claim: reason"),
  }));
  if (buried.length > 0) onDropped?.({ ids: buried.map(({ id }) => id), total: asNumber(total, "claim: total") });
  return {
    now: asNumber(now, "claim: now"),
    leaseUntil: asNumber(leaseUntil, "claim: leaseUntil"),
    nextAt: asNumber(nextAt, "claim: nextAt"),
    messages: taken.map(readMessage),
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
