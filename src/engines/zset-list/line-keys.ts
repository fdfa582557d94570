import type { Reply } from "../../clients/port.js";
import { asBytes, asNumber } from "../../scripting/reply.js";
import type { TurnKeys } from "../../waking/turn.js";

/** The keys of a queue whose messages wait in a zset until they are due, and then stand in a list. */
export interface LineKeys extends TurnKeys {
  /** list: what is due and was moved, the oldest at its right end. */
  readonly ready: string;
}

/** What a claim saw, besides what it took. */
export interface Look {
  /** The server's time. */
  readonly now: number;
  /** When the consumer is to claim again. */
  readonly nextAt: number;
  /** When the next message comes due that is not in the list; `undefined` when there is none, or in a pause. */
  readonly headAt: number | undefined;
}

export function headAtOf(reply: Reply | undefined, where: string): number | undefined {
  return asBytes(reply, where).length === 0 ? undefined : asNumber(reply, where);
}
