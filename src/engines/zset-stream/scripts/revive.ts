import type { DueTime } from "../../../engine.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { StreamKeys } from "../keys.js";
import { toDeadLetters } from "./dead-letters.js";
import { sources } from "./sources.generated.js";

const script = defineScript("revive", sources["revive"], {
  keys: ["messages", "stream", "queue", "leases", "again", "copies", "dead", "failures", "state", "waiting"],
});

/** Brings dead letters of a group back, for this group; answers how many. */
export async function revive(
  evaluator: Evaluator,
  keys: StreamKeys,
  group: string,
  { ids, due }: { readonly ids: readonly string[] | "all"; readonly due: DueTime },
): Promise<number> {
  const when = "at" in due ? ["a", String(due.at)] : ["d", String(due.delay)];
  return await toDeadLetters(evaluator, keys, ids, {
    what: "dead letters were revived",
    script,
    group,
    args: [keys.channel, ...when],
  });
}
