import type { Counts } from "../../../engine.js";
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
    const [, scheduled, due, leased, dead, paused, some, place] = asArray(reply, "counts");
    unread += asNumber(some, "counts: unread");
    after = asText(place, "counts: place");
    if (after !== "") continue;
    return {
      scheduled: asNumber(scheduled, "counts: scheduled"),
      due: asNumber(due, "counts: due") + unread,
      leased: asNumber(leased, "counts: leased"),
      dead: asNumber(dead, "counts: dead"),
      paused: asNumber(paused, "counts: paused") === 1,
    };
  }
}
