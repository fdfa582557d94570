import type { Extension, Receipt } from "../../../engine.js";
import type { QueueKeys } from "../keys.js";
import { asArray, asNumber } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { outcomesOf } from "../../../scripting/outcomes.js";
import { sources } from "./sources.generated.js";

const script = defineScript("extend", sources["extend"], {
  keys: ["schedule", "leases", "leased", "state", "waiting"],
  harmlessWhenLate: true,
});

const words = { s: "extended", l: "lease-lost" } as const;

/**
 * Moves the deadline of leases that are still held and not over to now plus `lease` ms. Twice is once, only later; so a
 * lost reply does not matter, and a lease that is not held at the last attempt is lost.
 */
export async function extend(
  evaluator: Evaluator,
  keys: QueueKeys,
  receipts: readonly Receipt[],
  lease: number,
): Promise<Extension[]> {
  const names = script.keysIn(keys);
  return await inChunks(receipts, { id: ({ id }) => id }, async (chunk) => {
    const args = [keys.channel, String(lease)];
    for (const { id, token } of chunk) args.push(id, token);
    const { reply } = await evaluator.evaluate(script, names, args);
    const [, until, letters] = asArray(reply, "extend");
    const leaseUntil = asNumber(until, "extend: leaseUntil");
    return outcomesOf(letters, words, "extend: outcomes").map((outcome): Extension =>
      outcome === "extended" ? { outcome, leaseUntil } : { outcome },
    );
  });
}
