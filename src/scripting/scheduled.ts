import type { Reply } from "../clients/port.js";
import type { ScheduleResult } from "../engine.js";
import { PunctualError } from "../errors.js";
import { outcomesOf } from "./outcomes.js";
import { asBytes } from "./reply.js";

/** What the letters of the reply mean; `e` is a duplicate with the very same body, `g` one that is gone but remembered. */
const words = { s: "scheduled", d: "duplicate", e: "same", g: "gone", r: "replaced", l: "leased" } as const;

/** How the call went that a schedule is the answer to. */
export interface ScheduleCall {
  /** Whether an earlier attempt ended without a reply. */
  readonly uncertain: boolean;
  /** The server's time at which it was first made, at the latest. */
  readonly began: number | undefined;
}

/**
 * Reads the outcomes and due times, an f64 each, of a script that schedules.
 *
 * When an earlier attempt ended without a reply, a message that is there with the very same body is, as far as can be known,
 * what that attempt stored. It is called `scheduled`: whoever made its id up would else be told of a duplicate that cannot be. So
 * is one that is gone but remembered, when it went after the call began.
 */
export function scheduledOf(
  letters: Reply | undefined,
  dueAts: Reply | undefined,
  { uncertain, began = Infinity }: ScheduleCall,
): ScheduleResult[] {
  const outcomes = outcomesOf(letters, words, "schedule: outcomes");
  const times = asBytes(dueAts, "schedule: dueAts");
  if (times.length !== outcomes.length * 8) {
    throw new PunctualError(
      "outcome-unknown",
      `the script schedule gave ${times.length} bytes of due times for ${outcomes.length}`,
    );
  }
  return outcomes.map((outcome, index) => {
    const dueAt = times.readDoubleBE(index * 8);
    if (outcome !== "same" && outcome !== "gone") return { outcome, dueAt };
    const ours = uncertain && (outcome === "same" || dueAt >= began);
    return { outcome: ours ? "scheduled" : "duplicate", dueAt };
  });
}
