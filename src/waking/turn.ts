import { asArray, asNumber } from "../scripting/reply.js";
import { defineScript, type Evaluator } from "../scripting/script.js";
import type { WakingKeys } from "./keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("turn", sources["turn"], {
  keys: ["schedule", "claims", "state", "waiting"],
  harmlessWhenLate: true,
});

/** The keys of an engine that keeps what waits in a zset, by due time in ms. */
export interface TurnKeys extends WakingKeys {
  readonly schedule: string;
}

/** A consumer that has claimed. */
export interface TurnRequest {
  readonly consumer: string;
  /** Whether it claims again by itself. */
  readonly returns: boolean;
  /** Whether it has no room for more. */
  readonly full: boolean;
  /** When something else is to be done than what is scheduled, such as the end of a lease; Unix ms. */
  readonly soonest?: number | undefined;
}

/**
 * Takes a turn in looking out for what comes due, after a claim that is no script of its own. Answers the server's time, and
 * when this consumer is to claim again.
 */
export async function takeTurn(
  evaluator: Evaluator,
  keys: TurnKeys,
  { consumer, returns, full, soonest }: TurnRequest,
): Promise<{ readonly now: number; readonly nextAt: number }> {
  const { reply } = await evaluator.evaluate(script, script.keysIn(keys), [
    consumer,
    keys.channel,
    returns ? "1" : "0",
    full ? "1" : "0",
    soonest === undefined ? "" : String(soonest),
  ]);
  const [now, nextAt] = asArray(reply, "turn");
  return { now: asNumber(now, "turn: now"), nextAt: asNumber(nextAt, "turn: nextAt") };
}
