import type { CallOptions, NewMessage, ScheduleResult } from "../../../engine.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { outcomesOf } from "../../../scripting/outcomes.js";
import { asArray, asBytes } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { timeLeft } from "../../../scripting/time-left.js";
import type { DelayqueueKeys } from "../keys.js";
import { headersText } from "../note-text.js";
import { storedOnly } from "../taken-ids.js";
import { sources } from "./sources.generated.js";

const script = defineScript("schedule", sources["schedule"], {
  keys: ["pending", "ready", "unack", "retry", "counts", "garbage", "messages", "notes", "state", "waiting"],
});

const words = { s: "scheduled", d: "duplicate", r: "replaced", l: "leased", e: "elsewhere", k: "key" } as const;

/** Retries that are written for a message without a limit of its own: the Go library's default. */
const defaultRetries = 3;

/** Flags of a note, as in snippets/notes.lua. */
const ownEnd = 1;
const ownLimit = 2;
const noLimit = 4;

/**
 * Stores messages; those with an id that exists are kept or replaced. `keep`: how long payloads stay after the due time, ms.
 *
 * When an earlier attempt ended without a reply, a message that is there with the very same payload is, as far as can be known,
 * what that attempt stored; it is called `scheduled`.
 *
 * Fails when an id is taken by what is not of this queue, after the others were stored: see `storedOnly`.
 */
export async function schedule(
  evaluator: Evaluator,
  keys: DelayqueueKeys,
  messages: readonly NewMessage[],
  { keep, ...options }: CallOptions & { readonly keep: number },
): Promise<ScheduleResult[]> {
  const { clock } = evaluator;
  const cut = { id: ({ id }: NewMessage) => id, bytes: ({ payload }: NewMessage) => payload.length };
  const limits = timeLeft(clock, options);
  const answers = await inChunks(messages, cut, async (chunk) => {
    let began: number | undefined;
    const values = chunk.flatMap(valuesOf);
    const args = (again: boolean) => {
      // Not before there is a connection: until the server has told its time, the clock is that of this machine.
      began ??= Math.floor(clock.now());
      return [keys.channel, keys.events, again ? String(began) : "", String(keep), ...values];
    };
    const { reply } = await evaluator.evaluate(script, script.keysIn(keys), args, limits());
    const [, letters, times] = asArray(reply, "schedule");
    const dueAts = asBytes(times, "schedule: dueAts");
    return outcomesOf(letters, words, "schedule: outcomes").map((outcome, index) =>
      outcome === "elsewhere" || outcome === "key" ? outcome : { outcome, dueAt: dueAts.readDoubleBE(index * 8) },
    );
  });
  const ids = messages.map(({ id }) => id);
  return storedOnly(answers, ids, keys);
}

function valuesOf({ id, payload, due, onDuplicate, attempts, expiresIn, headers }: NewMessage): (string | Buffer)[] {
  // More than 31 bits count is no limit.
  const retries = attempts === undefined ? defaultRetries : Math.min(attempts, 2 ** 31) - 1;
  return [
    id,
    ("at" in due ? "a" : "d") + (onDuplicate === "replace" ? "r" : "k"),
    String("at" in due ? due.at : due.delay),
    String(retries),
    expiresIn === undefined ? "" : String(Math.ceil(expiresIn)),
    String((expiresIn === undefined ? 0 : ownEnd) | (attempts === undefined ? noLimit : ownLimit)),
    headersText(headers),
    Buffer.from(payload),
  ];
}
