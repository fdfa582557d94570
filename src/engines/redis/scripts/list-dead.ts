import type { QueueKeys } from "../keys.js";
import { placeArgs } from "../../../scripting/list-place.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { Part, PartQuery } from "./list.js";
import { readPart } from "./list-part.js";
import { sources } from "./sources.generated.js";

const script = defineScript("list-dead", sources["list-dead"], {
  keys: ["messages", "leases", "leased", "failures", "dead", "state"],
  harmlessWhenLate: true,
});

/** Reads dead letters by the time of their burial and then by id. */
export async function listDead(evaluator: Evaluator, keys: QueueKeys, query: PartQuery): Promise<Part> {
  const names = script.keysIn(keys);
  const { reply } = await evaluator.evaluate(script, names, placeArgs(query));
  return readPart(reply, "list-dead");
}
