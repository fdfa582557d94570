import type { CallOptions, NewMessage, OpenOptions, ScheduleResult } from "../../../engine.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { encodeBody } from "../../../scripting/message-body.js";
import { outcomesOf } from "../../../scripting/outcomes.js";
import { asArray, asBytes } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { timeLeft } from "../../../scripting/time-left.js";
import type { ReliableKeys } from "../reliable-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("schedule", sources["schedule"], {
  keys: ["schedule", "ready", "messages", "standing", "leases", "dead", "state", "waiting", "gone"],
});

/** `e` is a duplicate with the very same body, `g` one that is gone but remembered. */
const words = { s: "scheduled", d: "duplicate", e: "same", g: "gone", r: "replaced", l: "leased" } as const;

interface Entry {
  readonly message: NewMessage;
  readonly body: Buffer;
}

/**
 * Stores messages; those with an id that exists are kept or replaced. After a lost reply, a message that is there with the very
 * same body is what the lost attempt stored, as far as can be known, and called `scheduled`, also where it was to replace another;
 * so is one that is gone but remembered, when it went after the call began.
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
