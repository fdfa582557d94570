import type { QueueKeys } from "../keys.js";
import { mismatchesOf } from "../../../scripting/mismatches.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { sources } from "./sources.generated.js";

const script = defineScript("audit-check", sources["audit-check"], {
  keys: ["schedule", "messages", "leases", "leased", "failures", "dead", "state", "waiting"],
  harmlessWhenLate: true,
});

/** Everything that can be wrong with an id, and how to say so: docs/how-to/repair.md. */
export const mismatches = {
  "schedule-without-message": "The schedule has an entry of a message that there is not.",
  "schedule-stale": "The schedule has an entry of another message that had this id before.",
  "message-without-index": "The message is neither scheduled nor leased nor dead, so it would never be delivered.",
  "message-in-two-indexes": "The message is in two states at once.",
  "lease-without-message": "There is a lease on a message that there is not.",
  "lease-without-fence": "There is a deadline of a lease, but not whose lease it is.",
  "fence-without-lease": "It is known whose lease it is, but not when it ends, so it would never end.",
  "lease-stale": "The lease is on another message that had this id before.",
  "dead-without-message": "The dead letters have an entry of a message that there is not.",
  "dead-without-failure": "It is not known why the dead letter was buried.",
  "failure-without-message": "There is a record of failures of a message that there is not.",
} as const;

export type Mismatch = keyof typeof mismatches;
const kinds = Object.keys(mismatches) as readonly Mismatch[];

/** What is to be looked at: an id, and where it comes from the schedule, the sequence number of that entry. */
export interface Suspect {
  readonly id: Buffer;
  readonly sequence: Buffer;
}

/** Looks at all that the store has of each id, one by one in one moment, and says what is wrong; with `repair` mends it. */
export async function auditCheck(
  evaluator: Evaluator,
  keys: QueueKeys,
  suspects: readonly Suspect[],
  { repair }: { readonly repair: boolean },
): Promise<Mismatch[][]> {
  const names = script.keysIn(keys);
  return await inChunks(suspects, { id: ({ id }) => id.toString("latin1") }, async (chunk) => {
    const args = [keys.channel, repair ? "1" : "0", ...chunk.flatMap(({ id, sequence }) => [id, sequence])];
    const { reply } = await evaluator.evaluate(script, names, args);
    return mismatchesOf(reply, kinds);
  });
}
