import { PunctualError } from "../../errors.js";
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
 * answers how many that were. Fails with `outcome-unknown` after a lost reply.
 */
export async function purgeWaiting(
  evaluator: Evaluator,
  keys: StreamKeys,
  group: string,
  groups: Groups,
): Promise<number> {
  const { sequence } = await reclaim(evaluator, keys, group);
  let place: Place | undefined;
  let done = 0;
  let unknown = false;
  for (;;) {
    const { found, next } = await listWaiting(evaluator, keys, group, {
      state: "any",
      from: 0,
      to: 8.64e15,
      limit: messagesPerCall,
      after: place,
    });
    const ids = found.map(({ id }) => id);
    for (const outcome of await cancel(evaluator, groups, ids, sequence)) {
      if (outcome === "cancelled") done += 1;
      else if (outcome === "outcome-unknown") unknown = true;
    }
    place = next;
    if (place === undefined) break;
  }
  if (!unknown) return done;
  throw new PunctualError(
    "outcome-unknown",
    `A reply was lost, so it is not known how many messages were purged; at least ${done}.`,
    { details: { done } },
  );
}
