import { asArray, asBytes, asNumber, asRows, asText } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { StreamKeys } from "../keys.js";
import { comparePlaces, type Found, type PartQuery } from "../list-place.js";
import { sources } from "./sources.generated.js";

const script = defineScript("list-leased", sources["list-leased"], {
  keys: ["queue", "leases", "copies"],
  harmlessWhenLate: true,
});

/** Leases that one call looks at, about: what ZSCAN is told. */
const leasesPerCall = 500;

/**
 * Finds messages under a lease by due time. There is no index for that, and one would cost every claim a write; so all leases
 * are looked at, as many as consumers hold, and sorted here.
 */
export async function listLeased(
  evaluator: Evaluator,
  keys: StreamKeys,
  { from, to, limit, after }: PartQuery,
): Promise<{ found: Found[]; more: boolean }> {
  let best = new Map<string, Found>();
  let cursor = "0";
  let more = false;
  do {
    const { reply } = await evaluator.evaluate(script, script.keysIn(keys), [cursor, String(leasesPerCall)]);
    const [, next, rows] = asArray(reply, "list-leased");
    for (const [id, due, sequence] of asRows(rows, 3, "list-leased: leases")) {
      const held = {
        id: asText(id, "list-leased: id"),
        time: asNumber(due, "list-leased: due"),
        tail: asBytes(sequence, "list-leased: sequence"),
      };
      const wanted = held.time >= from && held.time <= to && (after === undefined || comparePlaces(held, after) > 0);
      // A lease may come twice.
      if (wanted) best.set(held.id, held);
    }
    if (best.size > limit) {
      more = true;
      const first = [...best.values()].toSorted(comparePlaces).slice(0, limit);
      best = new Map(first.map((held) => [held.id, held]));
    }
    cursor = asText(next, "list-leased: cursor");
  } while (cursor !== "0");
  return { found: [...best.values()].toSorted(comparePlaces), more };
}
