import type { Taken } from "../../../schemes/holdings.js";
import { idsIn } from "../../../schemes/ids-in.js";
import { outcomesOf } from "../../../scripting/outcomes.js";
import { asArray, asBytes, asNumber, asText } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { type KeyExpiryKeys, pairsOf } from "../keys.js";
import { decodeStored } from "../stored-message.js";
import { sources } from "./sources.generated.js";

const script = defineScript("take", sources["take"], { keys: ["ids", "state", "probe", "claims"] });

const words = { t: "taken", d: "due", w: "waiting", g: "gone" } as const;

/** Ids that a call is asked about, or reads of the set, at most. */
export const pageSize = 250;

export interface TakeRequest {
  readonly consumer: string;
  /** Names the call among all that the consumer ever makes. */
  readonly call: string;
  /** At most `pageSize`. */
  readonly ids: readonly string[];
  readonly limit: number;
  /** Where to read ids for a later call. */
  readonly cursor: string | undefined;
  /** Whether to let a key expire that shows that expiries are told. */
  readonly probes: boolean;
}

export interface TakeAnswer {
  readonly now: number;
  readonly paused: boolean;
  readonly taken: readonly Taken[];
  /** Those that are due and were left where they are. */
  readonly left: readonly string[];
  readonly cursor: string;
  readonly page: readonly string[];
  /** When the next of those that were asked for is due; `Infinity` when all are. */
  readonly soonest: number;
  /** The ids of what an attempt of this call took whose reply was lost: nobody has it. Then nothing else was taken. */
  readonly lost: readonly string[];
}

/**
 * Takes messages out. When a reply was lost, what that attempt took is lost with it: at most once. So an attempt must not run
 * after a later one either.
 */
export async function take(
  evaluator: Evaluator,
  keys: KeyExpiryKeys,
  { consumer, call, ids, limit, cursor = "", probes }: TakeRequest,
): Promise<TakeAnswer> {
  const names = [...script.keysIn(keys), ...pairsOf(keys, ids)];
  const args = (again: boolean) => [
    String(limit),
    cursor,
    String(pageSize),
    probes ? "1" : "",
    consumer,
    call,
    again ? "1" : "0",
    ...ids,
  ];
  const { reply } = await evaluator.evaluate(script, names, args);
  const [now, paused, letters, messages, next, page, soonest, lost] = asArray(reply, "take");
  const standings = outcomesOf(letters, words, "take: standings");
  return {
    now: asNumber(now, "take: now"),
    paused: asNumber(paused, "take: paused") === 1,
    taken: asArray(messages, "take: messages").map((message) => decodeStored(asBytes(message, "take: message"))),
    left: ids.filter((_, index) => standings[index] === "due"),
    cursor: asText(next, "take: cursor"),
    page: asArray(page, "take: page").map((id) => asText(id, "take: id")),
    soonest: asText(soonest, "take: soonest") === "" ? Infinity : asNumber(soonest, "take: soonest"),
    lost: idsIn(asBytes(lost, "take: lost")),
  };
}
