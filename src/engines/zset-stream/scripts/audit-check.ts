import type { Evaluator } from "../../../scripting/script.js";
import { defineScript } from "../../../scripting/script.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { mismatchesOf } from "../../../scripting/mismatches.js";
import type { Groups } from "../groups.js";
import { sources } from "./sources.generated.js";

const script = defineScript("audit-check", sources["audit-check"], {
  keys: ["schedule", "messages", "moved", "lost", "stream", "groups", "queue"],
  harmlessWhenLate: true,
});

/** Everything that can be wrong with an id, and how to say so. */
export const mismatches = {
  "schedule-without-message": "The schedule has an entry of a message that there is not.",
  "schedule-stale": "The schedule has an entry of another message that had this id before.",
  "entry-without-message": "The stream has an entry of a message that is not there any more.",
  "moved-without-message": "A place in the stream is kept for a message that there is not.",
  "moved-without-entry": "The message was moved to the stream, and the stream has no entry of it.",
  "message-in-two-indexes": "The message is in the schedule and in the stream at once.",
  "message-without-index": "The message is neither in the schedule nor in the stream, so it would never be delivered.",
  "message-done": "Every group is done with the message, and it is still there.",
  "lease-without-copy": "A group has the end of a lease on a message that it has no copy of.",
  "again-without-copy": "A group has a time to be due again of a message that it has no copy of.",
  "copy-without-message": "A group has a copy of a message that there is not.",
  "copy-stale": "A group has a copy of another message that had this id before.",
  "copy-without-state": "A group has a copy that is not in exactly one of the states leased, due again and dead.",
  "copy-without-pending": "The stream takes for acknowledged what a group has not finished.",
  "pending-without-copy": "The stream waits for a group that has no copy of the message.",
  "dead-without-copy": "A group has a dead letter, or a failure, of a message that it has no copy of.",
} as const;

export type Mismatch = keyof typeof mismatches;
const kinds = Object.keys(mismatches) as readonly Mismatch[];

/** What is to be looked at: an id, and the index entry by which it was found. */
export interface Suspect {
  readonly id: Buffer;
  /** Which index, as in the header of the script; empty for a hash. */
  readonly where: string;
  readonly found: Buffer;
}

/** Ids that one call looks at: each costs some look-ups for each group. */
const mostAtOnce = 125;

/** Looks at all that the store has of each id, one by one in one moment, and says what is wrong; with `repair` mends it. */
export async function auditCheck(
  evaluator: Evaluator,
  groups: Groups,
  suspects: readonly Suspect[],
  { repair }: { readonly repair: boolean },
): Promise<Mismatch[][]> {
  const cut = { id: ({ id }: Suspect) => id.toString("latin1"), items: mostAtOnce };
  return await inChunks(suspects, cut, async (chunk) => {
    const args = [repair ? "1" : "0", ...chunk.flatMap(({ id, where, found }) => [id, where, found])];
    const { reply } = await groups.evaluate(evaluator, script, () => args);
    return mismatchesOf(reply, kinds);
  });
}
