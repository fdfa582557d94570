import { comparePlaces, type ListPlace, type PlaceQuery } from "../../../scripting/list-place.js";
import { asArray, asBytes, asNumber, asRows, asText } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { StreamKeys } from "../keys.js";
import type { FoundPart } from "../found-places.js";
import { sources } from "./sources.generated.js";

const script = defineScript("list-leased", sources["list-leased"], {
  keys: ["queue", "leases", "copies"],
  harmlessWhenLate: true,
});

/** Leases that one call looks at, about: what ZSCAN is told. */
const leasesPerCall = 500;

/** Which leases: those that are held, or those that have ended and were the last attempt. */
export type LeaseKind = "held" | "ended";

/**
 * Finds messages under a lease by due time, or dead letters that nobody has buried yet by the end of their leases. There is
 * no index for that, and one would cost every claim a write; so all leases are looked at, as many as consumers hold, and
 * sorted here.
 */
export async function listLeased(
  evaluator: Evaluator,
  keys: StreamKeys,
  which: LeaseKind,
  { from, to, limit, after }: PlaceQuery,
): Promise<FoundPart> {
  let best = new Map<string, ListPlace>();
  let cursor = "0";
  let more = false;
  do {
    const { reply } = await evaluator.evaluate(script, script.keysIn(keys), [cursor, String(leasesPerCall), which]);
    const [, next, rows] = asArray(reply, "list-leased");
    for (const [id, time, tail] of asRows(rows, 3, "list-leased: leases")) {
      const held = {
        id: asText(id, "list-leased: id"),
        time: asNumber(time, "list-leased: time"),
        tail: asBytes(tail, "list-leased: tail"),
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
  const found = [...best.values()].toSorted(comparePlaces);
  return { found, next: more ? found.at(-1) : undefined };
}
