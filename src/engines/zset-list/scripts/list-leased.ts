import { comparePlaces, type ListPlace, type PlaceQuery } from "../../../scripting/list-place.js";
import { asArray, asBytes, asNumber, asRows, asText } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { ReliableKeys } from "../reliable-keys.js";
import type { PlacePage } from "./list-places.js";
import { sources } from "./sources.generated.js";

const script = defineScript("list-leased", sources["list-leased"], {
  keys: ["standing", "leases", "state"],
  harmlessWhenLate: true,
});

/** Finds the places of leased messages by due time. They lie by the end of their leases, so all of them are walked for a page. */
export async function listLeased(
  evaluator: Evaluator,
  keys: ReliableKeys,
  { from, to, limit, after }: PlaceQuery,
): Promise<PlacePage> {
  const found = new Map<string, ListPlace>();
  let cursor = "0";
  do {
    const { reply } = await evaluator.evaluate(script, script.keysIn(keys), [cursor]);
    const [, next, rows] = asArray(reply, "list-leased");
    for (const [due, seq, id] of asRows(rows, 3, "list-leased: places")) {
      const place = {
        time: asNumber(due, "list-leased: due"),
        tail: asBytes(seq, "list-leased: seq"),
        id: asText(id, "list-leased: id"),
      };
      const isBehind = after === undefined || comparePlaces(after, place) < 0;
      if (isBehind && place.time >= from && place.time <= to) found.set(place.id, place);
    }
    cursor = asText(next, "list-leased: cursor");
  } while (cursor !== "0");
  const places = [...found.values()].toSorted(comparePlaces);
  return { places: places.slice(0, limit), more: places.length > limit };
}
