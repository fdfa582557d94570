import type { QueueKeys } from "../keys.js";
import { asArray, asNumber } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { sources } from "./sources.generated.js";

const script = defineScript("reclaim", sources["reclaim"], {
  keys: ["schedule", "messages", "leases", "leased", "failures", "dead", "state"],
  harmlessWhenLate: true,
});

/** What was there when an operation on all began. */
export interface Beginning {
  /** The server's time in whole ms. */
  readonly now: number;
  /** The last sequence number that was given. */
  readonly sequence: number;
  /** How many were scheduled or due, at most. */
  readonly waiting: number;
  /** How many were dead, at most. */
  readonly dead: number;
}

/**
 * Reclaims every lease that has ended when it begins, so that what counts as due or dead lies with these, and says what was
 * there. Doing it twice is doing it once, so a lost reply does not matter.
 */
export async function reclaim(evaluator: Evaluator, keys: QueueKeys): Promise<Beginning> {
  const names = script.keysIn(keys);
  let beginning: Beginning | undefined;
  for (;;) {
    const { reply } = await evaluator.evaluate(script, names, []);
    const [now, earliest, sequence, waiting, dead] = asArray(reply, "reclaim");
    beginning ??= {
      now: Math.floor(asNumber(now, "reclaim: now")),
      sequence: asNumber(sequence, "reclaim: sequence"),
      waiting: asNumber(waiting, "reclaim: waiting"),
      dead: asNumber(dead, "reclaim: dead"),
    };
    if (asNumber(earliest, "reclaim: earliest") > beginning.now) return beginning;
  }
}
