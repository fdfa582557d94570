import type { CallOptions, NewMessage, OpenOptions, ScheduleResult } from "../../../engine.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { encodeBody } from "../../../scripting/message-body.js";
import { asArray } from "../../../scripting/reply.js";
import { scheduledOf } from "../../../scripting/scheduled.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { timeLeft } from "../../../scripting/time-left.js";
import type { ReliableKeys } from "../reliable-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("schedule", sources["schedule"], {
  keys: ["schedule", "ready", "messages", "standing", "leases", "dead", "state", "waiting", "gone"],
});

interface Entry {
  readonly message: NewMessage;
  readonly body: Buffer;
}

/**
 * Stores messages; those with an id that exists are kept or replaced. What a lost attempt stored is called `scheduled`, as far as
 * can be known, also where it was to replace another.
 */
export async function schedule(
  evaluator: Evaluator,
  keys: ReliableKeys,
  messages: readonly NewMessage[],
  { rememberFor = 0, ...options }: CallOptions & Pick<OpenOptions, "rememberFor"> = {},
): Promise<ScheduleResult[]> {
  const entries = messages.map((message): Entry => ({ message, body: encodeBody(message) }));
  const cut = { id: ({ message }: Entry) => message.id, bytes: ({ body }: Entry) => body.length };
  const limits = timeLeft(evaluator.clock, options);
  return await inChunks(entries, cut, async (chunk) => {
    const values = chunk.flatMap(({ message: { id, due, onDuplicate }, body }) => [
      id,
      "at" in due ? "a" : "d",
      String("at" in due ? due.at : due.delay),
      onDuplicate === "replace" ? "r" : "k",
      body,
    ]);
    // Not before there is a connection: until the server has told its time, the clock is that of this machine.
    let began: number | undefined;
    const args = (again: boolean) => {
      began ??= Math.floor(evaluator.clock.now());
      return [keys.channel, String(Math.ceil(rememberFor)), again ? String(began) : "", ...values];
    };
    const { reply, uncertain } = await evaluator.evaluate(script, script.keysIn(keys), args, limits());
    const [, letters, dueAts] = asArray(reply, "schedule");
    return scheduledOf(letters, dueAts, { uncertain, began });
  });
}
