import type { QueueKeys } from "../keys.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { Part, PartQuery } from "./list.js";
import { partArgs, readPart } from "./list-part.js";
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
  const names = script.keysIn(keys);
  const { reply } = await evaluator.evaluate(script, names, [state, ...partArgs(query)]);
  return readPart(reply, "list-waiting");
}
