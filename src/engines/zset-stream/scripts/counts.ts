import type { Counts } from "../../../engine.js";
import { countsOf } from "../../../scripting/counted.js";
import { asArray, asNumber, asText } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { StreamKeys } from "../keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("counts", sources["counts"], {
  keys: ["schedule", "stream", "queue", "leases", "again", "copies", "dead"],
  harmlessWhenLate: true,
});

/** How many messages a group has in each state, and whether the queue is paused. What it has not read yet is due. */
export async function counts(evaluator: Evaluator, keys: StreamKeys, group: string): Promise<Counts> {
  let after = "";
  let unread = 0;
  for (;;) {
    const { reply } = await evaluator.evaluate(script, script.keysIn(keys), [group, after]);
    const [, ...counted] = asArray(reply, "counts");
    const [some, place] = counted.slice(-2);
    unread += asNumber(some, "counts: unread");
    after = asText(place, "counts: place");
    if (after !== "") continue;
    const counts = countsOf(counted);
    return { ...counts, due: counts.due + unread };
  }
}
