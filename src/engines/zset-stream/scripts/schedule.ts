import type { CallOptions, NewMessage, OpenOptions, ScheduleResult } from "../../../engine.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { encodeBody } from "../../../scripting/message-body.js";
import { outcomesOf } from "../../../scripting/outcomes.js";
import { asArray, asBytes } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { timeLeft } from "../../../scripting/time-left.js";
import type { Groups } from "../groups.js";
import { sources } from "./sources.generated.js";

const script = defineScript("schedule", sources["schedule"], {
  keys: ["schedule", "messages", "moved", "lost", "stream", "groups", "queue", "gone"],
});

/** What the letters of the reply mean; `e` is a duplicate with the very same body, `g` one that is gone but remembered. */
const words = { s: "scheduled", d: "duplicate", e: "same", g: "gone", r: "replaced", l: "leased" } as const;

const isTime = 1;
const replaces = 2;

/**
 * Stores messages for all groups; those with an id that exists are kept or replaced.
 *
 * When an earlier attempt ended without a reply, a message that is there with the very same body is, as far as can be known,
 * what that attempt stored, and so is one that is gone but remembered, when it went after the call began: it is called
 * `scheduled`.
 */
export async function schedule(
  evaluator: Evaluator,
  groups: Groups,
  messages: readonly NewMessage[],
  { rememberFor = 0, ...options }: CallOptions & Pick<OpenOptions, "rememberFor"> = {},
): Promise<ScheduleResult[]> {
  const { clock } = evaluator;
  const limits = timeLeft(clock, options);
  return await inChunks(messages, { id: ({ id }) => id, bytes: sizeOf }, async (chunk) => {
    let began: number | undefined;
    const values = chunk.flatMap((message) => {
      const { id, due, onDuplicate } = message;
      const mode = ("at" in due ? isTime : 0) | (onDuplicate === "replace" ? replaces : 0);
      return [id, String(mode), String("at" in due ? due.at : due.delay), encodeBody(message)];
    });
    const args = (again: boolean) => {
      // Not before there is a connection: until the server has told its time, the clock is that of this machine.
      began ??= Math.floor(clock.now());
      return [String(Math.ceil(rememberFor)), again ? String(began) : "", ...values];
    };
    const { reply, uncertain } = await groups.evaluate(evaluator, script, args, limits());
    const [, letters, times] = asArray(reply, "schedule");
    const dueAts = asBytes(times, "schedule: dueAts");
    return outcomesOf(letters, words, "schedule: outcomes").map((outcome, index): ScheduleResult => {
      const dueAt = dueAts.readDoubleBE(index * 8);
      if (outcome !== "same" && outcome !== "gone") return { outcome, dueAt };
      const ours = uncertain && (outcome === "same" || dueAt >= (began ?? Infinity));
      return { outcome: ours ? "scheduled" : "duplicate", dueAt };
    });
  });
}

/** About how many bytes a message adds to a call. */
function sizeOf({ id, payload, headers }: NewMessage): number {
  let size = 32 + id.length + payload.length;
  if (headers !== undefined) for (const name in headers) size += name.length + (headers[name]?.length ?? 0) + 6;
  return size;
}
