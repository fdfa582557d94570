import type { CommandArgument } from "../../../clients/port.js";
import { asArray, asNumber } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { QueueKeys } from "../keys.js";
import type { Part, PartQuery } from "./list.js";
import { type FirstEnded, firstEnded, firstOf } from "./list-ended.js";
import { type Place, placeArgs } from "../../../scripting/list-place.js";
import { readPart } from "./list-part.js";
import { sources } from "./sources.generated.js";

const script = defineScript("list-waiting", sources["list-waiting"], {
  keys: ["schedule", "messages", "leases", "leased", "failures", "state"],
  harmlessWhenLate: true,
});

/** Reads messages that are scheduled, or due, by due time and then in the order in which they were scheduled. */
export async function listWaiting(
  evaluator: Evaluator,
  keys: QueueKeys,
  state: "scheduled" | "due",
  query: PartQuery,
): Promise<Part> {
  const read = async (after: PartQuery["after"], chosen: readonly CommandArgument[] = []) => {
    const args = [state, ...placeArgs({ ...query, after }), ...chosen];
    const { reply } = await evaluator.evaluate(script, script.keysIn(keys), args);
    const isCrowd = asNumber(asArray(reply, "list-waiting")[4], "list-waiting: crowd") === 1;
    return { isCrowd, ...readPart(reply, "list-waiting") };
  };
  /** What comes next where the first of a crowd are known. */
  const readFrom = async (crowd: FirstEnded, after: Place) => {
    const { ids, upTo } = firstOf(crowd, after, query.limit);
    const part = await read(after, [upTo, ...ids]);
    const goesOn = part.next?.time === crowd.time && part.next.tail.compare(crowd.upTo) < 0;
    return { ...part, crowd: goesOn ? crowd : undefined };
  };
  if (query.crowd && query.after) return await readFrom(query.crowd, query.after);
  const part = await read(query.after);
  // Only when nothing comes before it: looking through a crowd takes many calls, and the caller may not want more.
  if (!part.isCrowd || part.next === undefined || part.messages.length > 0) return part;
  return await readFrom(await firstEnded(evaluator, keys, part.next, query.wanted), part.next);
}
