import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { StreamKeys } from "../keys.js";
import { toDeadLetters } from "./dead-letters.js";
import { sources } from "./sources.generated.js";

const script = defineScript("remove", sources["remove"], {
  keys: ["messages", "moved", "stream", "queue", "gone", "leases", "copies", "dead", "failures"],
});

/** Gives dead letters of a group up for good; answers how many. */
export async function remove(
  evaluator: Evaluator,
  keys: StreamKeys,
  group: string,
  ids: readonly string[] | "all",
): Promise<number> {
  return await toDeadLetters(evaluator, keys, ids, { what: "dead letters were removed", script, group });
}
