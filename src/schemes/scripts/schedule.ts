import type { CallOptions, DueTime, ScheduleResult } from "../../engine.js";
import { PunctualError } from "../../errors.js";
import { idGenerator } from "../../message-id.js";
import { inChunks } from "../../scripting/in-chunks.js";
import { outcomesOf } from "../../scripting/outcomes.js";
import { asArray, asBytes } from "../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../scripting/script.js";
import { timeLeft } from "../../scripting/time-left.js";
import { type MemberKeys, withParked } from "../member-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("schedule", sources["schedule"], {
  keys: ["schedule", "state", "waiting", "parked"],
});

const nameCall = idGenerator();

const words = { s: "scheduled", d: "duplicate", u: "outcome-unknown" } as const;

/** A value to be put into a zset, and when it is due. */
export interface Placement {
  readonly member: Buffer;
  /** `keep`: the due time that it had, Unix ms; in the past it does not mean now. */
  readonly due: DueTime | { readonly keep: number };
}

/** What became of a value, and the due time that is stored. */
export interface Placed {
  readonly outcome: ScheduleResult["outcome"] | "outcome-unknown";
  readonly dueAt: number;
}

export interface ScheduleOptions extends CallOptions {
  /** They were taken out and come back, so they are taken in though Redis is at its memory limit. */
  readonly back?: boolean | undefined;
}

/**
 * Puts whole messages into a zset, where a value that is there stays as it is. After a lost reply it is repeated, but for what
 * may have been stored and taken meanwhile: that would be delivered twice.
 */
export async function schedule(
  evaluator: Evaluator,
  keys: MemberKeys,
  placements: readonly Placement[],
  { back = false, ...options }: ScheduleOptions = {},
): Promise<Placed[]> {
  const cut = {
    id: ({ member }: Placement) => member.toString("latin1"),
    bytes: ({ member }: Placement) => member.length,
  };
  const limits = timeLeft(evaluator.clock, options);
  return await inChunks(placements, cut, async (chunk) => {
    let began: number | undefined;
    const call = nameCall();
    const values = chunk.flatMap(({ member, due }) => [...timeOf(due), member]);
    const args = (again: boolean) => {
      // Not before there is a connection: until the server has told its time, the clock is that of this machine.
      began ??= Math.floor(evaluator.clock.now());
      return [keys.channel, `${again ? began : ""} ${call}`, back ? "1" : "", ...values];
    };
    const { reply } = await evaluator.evaluate(script, script.keysIn(withParked(keys)), args, limits());
    const [, letters, times] = asArray(reply, "schedule");
    const dueAts = asBytes(times, "schedule: dueAts");
    return outcomesOf(letters, words, "schedule: outcomes").map((outcome, index) => ({
      outcome,
      dueAt: dueAts.readDoubleBE(index * 8),
    }));
  });
}

/** A due time as the script takes it. */
function timeOf(due: Placement["due"]): [kind: string, when: string] {
  if ("keep" in due) return ["k", String(due.keep)];
  return "at" in due ? ["a", String(due.at)] : ["d", String(due.delay)];
}

/** The results of a schedule; fails with `outcome-unknown` when one is not known. */
export function asResults(placed: readonly Placed[]): ScheduleResult[] {
  const results = placed.map(({ outcome, dueAt }) => (outcome === "outcome-unknown" ? undefined : { outcome, dueAt }));
  const known = results.filter((result) => result !== undefined);
  if (known.length === results.length) return known;
  throw new PunctualError(
    "outcome-unknown",
    `A reply was lost, and ${results.length - known.length} of ${results.length} messages may have been delivered since: to schedule them again could deliver them twice.`,
    { details: { results } },
  );
}
