import type { MessageState } from "../../../engine.js";
import { asArray, asBytes, asNumber, asRows, asText } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { ListPlace, PlaceQuery, PlacePage } from "../list-place.js";
import type { ReliableKeys } from "../reliable-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("list-places", sources["list-places"], {
  keys: ["schedule", "ready", "dead", "state"],
  harmlessWhenLate: true,
});

/** Finds the places of messages that wait or are dead, in order. */
export async function listPlaces(
  evaluator: Evaluator,
  keys: ReliableKeys,
  state: Exclude<MessageState, "leased">,
  { from, to, limit, after }: PlaceQuery,
): Promise<PlacePage> {
  const { reply } = await evaluator.evaluate(script, script.keysIn(keys), [
    state,
    String(from),
    String(to),
    String(limit),
    after === undefined ? "" : String(after.time),
    after?.tail ?? "",
  ]);
  const [, rows, more] = asArray(reply, "list-places");
  const places = asRows(rows, 3, "list-places: places").map(([time, tail, id]): ListPlace => ({
    time: asNumber(time, "list-places: time"),
    tail: asBytes(tail, "list-places: tail"),
    id: asText(id, "list-places: id"),
  }));
  return { places, more: more === 1 };
}
