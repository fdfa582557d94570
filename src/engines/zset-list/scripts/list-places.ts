import type { MessageState } from "../../../engine.js";
import { type ListPlace, type PlaceQuery, placeArgs } from "../../../scripting/list-place.js";
import { asArray, asBytes, asNumber, asRows, asText } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { ReliableKeys } from "../reliable-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("list-places", sources["list-places"], {
  keys: ["schedule", "ready", "dead", "state"],
  harmlessWhenLate: true,
});

export interface PlacePage {
  readonly places: readonly ListPlace[];
  /** Whether there are places behind these. */
  readonly more: boolean;
}

/** Finds the places of messages that wait or are dead, in order. */
export async function listPlaces(
  evaluator: Evaluator,
  keys: ReliableKeys,
  state: Exclude<MessageState, "leased">,
  query: PlaceQuery,
): Promise<PlacePage> {
  const { reply } = await evaluator.evaluate(script, script.keysIn(keys), [state, ...placeArgs(query)]);
  const [, rows, more] = asArray(reply, "list-places");
  const places = asRows(rows, 3, "list-places: places").map(([time, tail, id]): ListPlace => ({
    time: asNumber(time, "list-places: time"),
    tail: asBytes(tail, "list-places: tail"),
    id: asText(id, "list-places: id"),
  }));
  return { places, more: more === 1 };
}
