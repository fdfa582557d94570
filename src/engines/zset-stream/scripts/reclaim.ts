import { asArray, asNumber, asText } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { StreamKeys } from "../keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("reclaim", sources["reclaim"], {
  keys: ["stream", "queue", "leases", "again", "copies", "dead", "failures"],
  harmlessWhenLate: true,
});

/** When an operation on all of a group began. */
export interface Beginning {
  /** The server's time in whole ms. */
  readonly now: number;
  /** The last sequence number that was given. */
  readonly sequence: number;
  /** Ids of messages whose last attempt that was. */
  readonly buried: readonly string[];
}

/**
 * Reclaims the leases of a group that have ended when it begins, so that what counts as due or dead lies with these. Doing it
 * twice is doing it once, so a lost reply does not matter. A claim does not need it: it takes over what it delivers.
 */
export async function reclaim(evaluator: Evaluator, keys: StreamKeys, group: string): Promise<Beginning> {
  let beginning: Omit<Beginning, "buried"> | undefined;
  const all: string[] = [];
  for (;;) {
    const { reply } = await evaluator.evaluate(script, script.keysIn(keys), [group]);
    const [now, count, sequence, buried] = asArray(reply, "reclaim");
    beginning ??= {
      now: Math.floor(asNumber(now, "reclaim: now")),
      sequence: asNumber(sequence, "reclaim: sequence"),
    };
    all.push(...asArray(buried, "reclaim: buried").map((id) => asText(id, "reclaim: buried id")));
    if (asNumber(count, "reclaim: count") === 0) return { ...beginning, buried: all };
  }
}
