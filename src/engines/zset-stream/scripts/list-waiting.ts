import { comparePlaces, type ListPlace, type PlaceQuery, placeArgs } from "../../../scripting/list-place.js";
import { asArray, asBytes, asNumber, asRows, asText } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { StreamKeys } from "../keys.js";
import type { FoundPart } from "../found-places.js";
import { sources } from "./sources.generated.js";

const script = defineScript("list-waiting", sources["list-waiting"], {
  keys: ["schedule", "stream", "queue", "leases", "again", "copies"],
  harmlessWhenLate: true,
});

/** Finds messages that wait for a group, behind a place, in order. */
export async function listWaiting(
  evaluator: Evaluator,
  keys: StreamKeys,
  group: string,
  { state, ...query }: PlaceQuery & { readonly state: "scheduled" | "due" | "any" },
): Promise<FoundPart> {
  const { reply } = await evaluator.evaluate(script, script.keysIn(keys), [group, ...placeArgs(query), state]);
  const [, rows, edgeTime, edgeTail] = asArray(reply, "list-waiting");
  const tail = asBytes(edgeTail, "list-waiting: edge");
  const edge = tail.length > 0 ? { time: asNumber(edgeTime, "list-waiting: edge"), tail } : undefined;
  const all = asRows(rows, 3, "list-waiting: messages").map(([id, due, sequence]): ListPlace => ({
    id: asText(id, "list-waiting: id"),
    time: asNumber(due, "list-waiting: due"),
    tail: asBytes(sequence, "list-waiting: sequence"),
  }));
  const known = all.filter((one) => edge === undefined || comparePlaces(one, edge) <= 0).toSorted(comparePlaces);
  const found = known.slice(0, query.limit);
  // Where fewer were found than wanted, all up to the edge were looked at.
  return { found, next: found.length === query.limit ? found.at(-1) : edge };
}
