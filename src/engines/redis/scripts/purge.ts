import type { QueueKeys } from "../keys.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { CountedCalls } from "./counted-calls.js";
import { reclaim } from "./reclaim.js";
import { remove } from "./remove.js";
import { sources } from "./sources.generated.js";

const script = defineScript("purge", sources["purge"], {
  keys: ["schedule", "messages", "failures", "state", "gone"],
});

/**
 * Deletes what waits, or what is dead, when it begins; answers how much that was. `operation` names this one among all that
 * ever run.
 *
 * What waits is walked once, in order of due time, and told by its sequence number from what is scheduled meanwhile; one that
 * somebody moves to an earlier time meanwhile, behind the walk, stays.
 */
export async function purge(
  evaluator: Evaluator,
  keys: QueueKeys,
  what: "waiting" | "dead",
  operation: string,
): Promise<number> {
  if (what === "dead") return await remove(evaluator, keys, "all", operation);
  const names = script.keysIn(keys);
  const calls = new CountedCalls(evaluator, operation);
  const { sequence, waiting } = await reclaim(evaluator, keys);
  let place: readonly string[] | undefined = [];
  while (place !== undefined && calls.done < waiting) {
    const args: string[] = [String(sequence), String(waiting - calls.done), ...place];
    const answer: string = await calls.call(script, names, args, deletedIn);
    const next = answer.split(" ").slice(1);
    place = next.length > 0 ? next : undefined;
  }
  return calls.done;
}

/** An answer is how many were deleted and, when there are more, the place to go on behind. */
function deletedIn(answer: string): number {
  return Number.parseInt(answer, 10);
}
