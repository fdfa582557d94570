import type { Extension, Receipt } from "../../../engine.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { outcomesOf } from "../../../scripting/outcomes.js";
import { asArray, asNumber } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { ReliableKeys } from "../reliable-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("extend", sources["extend"], {
  keys: ["standing", "leases", "state", "waiting"],
  harmlessWhenLate: true,
});

const words = { s: "extended", l: "lease-lost" } as const;

/** Moves the deadline of leases that are held to now plus `lease` ms. Twice is once, only later. */
export async function extend(
  evaluator: Evaluator,
  keys: ReliableKeys,
  receipts: readonly Receipt[],
  lease: number,
): Promise<Extension[]> {
  return await inChunks(receipts, { id: ({ id }) => id }, async (chunk) => {
    const args = chunk.flatMap(({ id, token }) => [id, token]);
    const { reply } = await evaluator.evaluate(script, script.keysIn(keys), [
      keys.channel,
      String(Math.ceil(lease)),
      ...args,
    ]);
    const [, until, letters] = asArray(reply, "extend");
    const leaseUntil = asNumber(until, "extend: leaseUntil");
    return outcomesOf(letters, words, "extend: outcomes").map((outcome): Extension =>
      outcome === "extended" ? { outcome, leaseUntil } : { outcome },
    );
  });
}
