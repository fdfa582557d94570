import { type ListPlace, type PlaceQuery, placeArgs } from "../../../scripting/list-place.js";
import { asArray, asBytes, asNumber, asRows } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { StreamKeys } from "../keys.js";
import type { FoundPart } from "../found-places.js";
import { sources } from "./sources.generated.js";

const script = defineScript("list-dead", sources["list-dead"], { keys: ["queue", "dead"], harmlessWhenLate: true });

/** Finds dead letters of a group behind a place, in the order of their burial and then of their ids. */
export async function listDead(evaluator: Evaluator, keys: StreamKeys, query: PlaceQuery): Promise<FoundPart> {
  const { reply } = await evaluator.evaluate(script, script.keysIn(keys), placeArgs(query));
  const [, rows] = asArray(reply, "list-dead");
  const found = asRows(rows, 2, "list-dead: messages").map(([id, at]): ListPlace => {
    const tail = asBytes(id, "list-dead: id");
    return { id: tail.toString("utf8"), time: asNumber(at, "list-dead: buriedAt"), tail };
  });
  return { found, next: found.length < query.limit ? undefined : found.at(-1) };
}
