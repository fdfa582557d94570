import { resultsOf } from "../../partial-results.js";
import { counted } from "../../scripting/done-count.js";
import type { Evaluator } from "../../scripting/script.js";
import type { Groups } from "./groups.js";
import type { StreamKeys } from "./keys.js";
import type { Place } from "../../scripting/list-place.js";
import { cancel } from "./scripts/cancel.js";
import { listWaiting } from "./scripts/list-waiting.js";
import { reclaim } from "./scripts/reclaim.js";

/** Messages that one call finds. */
const messagesPerCall = 250;

/**
 * Takes from all groups what the group of this engine waits for when it begins, but what a consumer of another group works on;
 * answers how many that were.
 */
export async function purgeWaiting(
  evaluator: Evaluator,
  keys: StreamKeys,
  group: string,
  groups: Groups,
): Promise<number> {
  return await counted("messages were purged", async (count) => {
    const { sequence } = await reclaim(evaluator, keys, group);
    let place: Place | undefined;
    const tell = (outcomes: readonly unknown[]) => {
      const number = (outcome: string) => outcomes.filter((one) => one === outcome).length;
      count(number("cancelled"), number("outcome-unknown") > 0);
    };
    do {
      const { found, next } = await listWaiting(evaluator, keys, group, {
        state: "any",
        from: 0,
        to: 8.64e15,
        limit: messagesPerCall,
        after: place,
      });
      const ids = found.map(({ id }) => id);
      try {
        tell(await cancel(evaluator, groups, ids, sequence));
      } catch (error) {
        tell(resultsOf(error));
        throw error;
      }
      place = next;
    } while (place !== undefined);
  });
}
