import type { Extension, Receipt } from "../../../engine.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { outcomesOf } from "../../../scripting/outcomes.js";
import { asArray, asNumber } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { DelayqueueKeys } from "../keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("extend", sources["extend"], {
  keys: ["unack", "notes", "state", "waiting"],
  harmlessWhenLate: true,
});

const words = { s: "extended", l: "lease-lost" } as const;

/** Moves the end of leases that are still held to now plus `lease` ms. Twice is once, only later, so a lost reply does no harm. */
export async function extend(
  evaluator: Evaluator,
  keys: DelayqueueKeys,
  receipts: readonly Receipt[],
  { lease, keep }: { readonly lease: number; readonly keep: number },
): Promise<Extension[]> {
  return await inChunks(receipts, { id: ({ id }) => id }, async (chunk) => {
    const args = [keys.channel, String(lease), String(keep), ...chunk.flatMap(({ id, token }) => [id, token])];
    const { reply } = await evaluator.evaluate(script, script.keysIn(keys), args);
    const [, until, letters] = asArray(reply, "extend");
    const leaseUntil = asNumber(until, "extend: leaseUntil");
    return outcomesOf(letters, words, "extend: outcomes").map((outcome): Extension =>
      outcome === "extended" ? { outcome, leaseUntil } : { outcome },
    );
  });
}
