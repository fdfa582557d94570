import type { CommandArgument, Reply } from "../clients/port.js";
import type { Claimed, ClaimRequest, ClaimResult } from "../engine.js";
import { decodeMessage, sequenceLength } from "./message-body.js";
import { asArray, asBytes, asFlatRows, asNumber, asRows, asText } from "./reply.js";

/** Where a claim that takes anew begins, and one that is made again. */
const start: CommandArgument = "";

/** Elements of a message in a reply. */
const width = 4;

/** A claim as scripts take it. */
export interface ClaimCall extends ClaimRequest {
  /** Grows with each claim of a consumer: one that was held up on its way and arrives after a later one is refused. */
  readonly order: number;
}

/** As scripts take it: consumer order token limit room lease attempts channel returns. `most`: messages that one call may take. */
export function claimArgs(
  { consumer, order, token, limit, lease, attempts, returns = true }: ClaimCall,
  channel: string,
  most: number,
): string[] {
  return [
    consumer,
    String(order),
    token,
    String(Math.min(limit, most)),
    limit > most ? "1" : "0",
    String(Math.ceil(lease)),
    String(Math.min(attempts, 0xffffffff)),
    channel,
    returns ? "1" : "0",
  ];
}

/** What an engine's claim has of its own. */
export interface Claiming {
  /** Runs the script; `place` is where a claim that is made again, because its reply was lost, goes on. */
  readonly evaluate: (place: CommandArgument) => Promise<{ readonly reply: Reply }>;
  /** What stands in a reply between the ids that are missing and the place: how many elements. */
  readonly between?: number;
  /** Deliveries at most of a message that has no limit of its own. */
  readonly attempts: number;
  /** Which of two with one due time was to be first; those in one piece come as the script found them. Default: neither. */
  readonly order?: (one: Buffer, other: Buffer) => number;
}

/**
 * Reads what a claim answers: {now, leaseUntil, nextAt, {id, due, value, attempts so far, …}, {id, reason, …} buried, {id, …}
 * missing}, what the engine adds, and from a claim that is made again the place behind which the next piece begins. Its leases are
 * looked for among all that end in the same ms, and a call looks at a bounded number of these.
 */
export async function readClaim({
  evaluate,
  between = 0,
  attempts,
  order,
}: Claiming): Promise<{ readonly result: ClaimResult; readonly rest: readonly Reply[] }> {
  let all: Reply[] = [];
  for (let place = start; ;) {
    const { reply } = await evaluate(place);
    const [now, leaseUntil, nextAt, taken, buried, missing, ...rest] = asArray(reply, "claim");
    const some = asFlatRows(taken, width, "claim: messages");
    all = all.length === 0 ? some : all.concat(some);
    const next = rest[between];
    if (next !== undefined) {
      const behind = asBytes(next, "claim: place");
      if (behind.length > 0) {
        place = behind;
        continue;
      }
      all = sorted(all, order);
    }
    const result = {
      now: asNumber(now, "claim: now"),
      leaseUntil: asNumber(leaseUntil, "claim: leaseUntil"),
      nextAt: asNumber(nextAt, "claim: nextAt"),
      messages: readMessages(all, attempts),
      buried: asRows(buried, 2, "claim: buried").map(([id, reason]) => ({
        id: asText(id, "claim: buried id"),
        reason: asText(reason, "claim: buried reason"),
      })),
      missing: asArray(missing, "claim: missing").map((id) => asText(id, "claim: missing id")),
    };
    return { result, rest };
  }
}

/** Without an array for each row: what is usual is one piece in the order of the script. */
function readMessages(rows: readonly Reply[], attempts: number): Claimed[] {
  const messages: Claimed[] = [];
  for (let at = 0; at < rows.length; at += width) {
    const { payload, headers, attempts: own } = decodeMessage(asBytes(rows[at + 2], "claim: value"));
    messages.push({
      id: asText(rows[at], "claim: id"),
      payload,
      dueAt: asNumber(rows[at + 1], "claim: due"),
      attempt: asNumber(rows[at + 3], "claim: attempts") + 1,
      attempts: own ?? attempts,
      headers,
    });
  }
  return messages;
}

function sorted(rows: Reply[], order: Claiming["order"]): Reply[] {
  return asRows(rows, width, "claim: messages")
    .sort((one, other) => dueOf(one) - dueOf(other) || (order?.(valueOf(one), valueOf(other)) ?? 0))
    .flat();
}

/** The order of scheduling: bodies begin with the sequence numbers of their messages. */
export function bySequence(one: Buffer, other: Buffer): number {
  return one.compare(other, 0, sequenceLength, 0, sequenceLength);
}

const dueOf = (row: readonly Reply[]): number => asNumber(row[1], "claim: due");
const valueOf = (row: readonly Reply[]): Buffer => asBytes(row[2], "claim: value");
