import type { CallOptions } from "../../../engine.js";
import { idGenerator } from "../../../message-id.js";
import type { Placed, Placement } from "../../../schemes/scripts/schedule.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { outcomesOf } from "../../../scripting/outcomes.js";
import { asArray, asBytes } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { type KeyExpiryKeys, pairsOf } from "../keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("schedule", sources["schedule"], { keys: ["ids", "state"] });

const nameCall = idGenerator();

const words = { s: "scheduled", d: "duplicate", r: "replaced", u: "outcome-unknown" } as const;

/** A message to be stored. */
export interface Storing extends Placement {
  readonly id: string;
  readonly replaces: boolean;
}

export interface ScheduleOptions extends CallOptions {
  /** They were taken out and come back, so they are taken in though Redis is at its memory limit. */
  readonly back?: boolean | undefined;
}

/**
 * Stores messages with their timers. After a lost reply it is repeated, but for what may have been stored and taken meanwhile:
 * that would be delivered twice.
 */
export async function schedule(
  evaluator: Evaluator,
  keys: KeyExpiryKeys,
  messages: readonly Storing[],
  { back = false, ...options }: ScheduleOptions = {},
): Promise<Placed[]> {
  const cut = { id: ({ id }: Storing) => id, bytes: ({ member }: Storing) => member.length };
  return await inChunks(messages, cut, async (chunk) => {
    let began: number | undefined;
    const call = nameCall();
    const names = [...script.keysIn(keys), ...pairsOf(keys, idsOf(chunk))];
    const values = chunk.flatMap((one) => [one.id, one.replaces ? "r" : "k", ...timeOf(one.due), one.member]);
    const args = (again: boolean) => {
      // Not before there is a connection: until the server has told its time, the clock is that of this machine.
      began ??= Math.floor(evaluator.clock.now());
      return [keys.told, `${again ? began : ""} ${call}`, back ? "1" : "", ...values];
    };
    const { reply } = await evaluator.evaluate(script, names, args, options);
    const [, letters, times] = asArray(reply, "schedule");
    const dueAts = asBytes(times, "schedule: dueAts");
    return outcomesOf(letters, words, "schedule: outcomes").map((outcome, index) => ({
      outcome,
      dueAt: dueAts.readDoubleBE(index * 8),
    }));
  });
}

const idsOf = (messages: readonly Storing[]) => messages.map(({ id }) => id);

function timeOf(due: Storing["due"]): [kind: string, when: string] {
  if ("keep" in due) return ["k", String(due.keep)];
  return "at" in due ? ["a", String(due.at)] : ["d", String(due.delay)];
}
