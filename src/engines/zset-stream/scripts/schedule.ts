import type { CallOptions, NewMessage, OpenOptions, ScheduleResult } from "../../../engine.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { encodeBody } from "../../../scripting/message-body.js";
import { asArray } from "../../../scripting/reply.js";
import { scheduledOf } from "../../../scripting/scheduled.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { timeLeft } from "../../../scripting/time-left.js";
import type { Groups } from "../groups.js";
import { sources } from "./sources.generated.js";

const script = defineScript("schedule", sources["schedule"], {
  keys: ["schedule", "messages", "moved", "lost", "stream", "groups", "queue", "gone"],
});

const isTime = 1;
const replaces = 2;

/**
 * Stores messages for all groups; those with an id that exists are kept or replaced. What an earlier attempt stored that ended
 * without a reply is called `scheduled`, as far as can be known.
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
    const [, letters, dueAts] = asArray(reply, "schedule");
    return scheduledOf(letters, dueAts, { uncertain, began });
  });
}

/** About how many bytes a message adds to a call. */
function sizeOf({ id, payload, headers }: NewMessage): number {
  let size = 32 + id.length + payload.length;
  if (headers !== undefined) for (const name in headers) size += name.length + (headers[name]?.length ?? 0) + 6;
  return size;
}
