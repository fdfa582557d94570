import type { ScheduleResult } from "../../engine.js";
import { PunctualError } from "../../errors.js";
import { quote } from "../../quote.js";
import type { DelayqueueKeys } from "./keys.js";

/** Why a message was not stored: its payload would have the name of what is another queue's, or of a key of this queue. */
export type Taken = "elsewhere" | "key";

/**
 * The answers for messages with these ids, when all were stored. Else fails, with what is stored in `details.results`: with
 * `misconfigured` when the id of one is taken elsewhere, and with `invalid-argument` when it names a key of the queue.
 */
export function storedOnly(
  answers: readonly (ScheduleResult | Taken)[],
  ids: readonly string[],
  keys: DelayqueueKeys,
): ScheduleResult[] {
  const results = answers.map((answer) => (typeof answer === "string" ? undefined : answer));
  const stored = results.filter((result) => result !== undefined);
  if (stored.length === results.length) return stored;
  const place = results.indexOf(undefined);
  const id = ids[place] ?? "";
  const [code, sentence] =
    answers[place] === "key"
      ? (["invalid-argument", namesKey(id, keys)] as const)
      : (["misconfigured", isElsewhere(id, keys)] as const);
  throw new PunctualError(code, sentence, { details: { argument: "id", id, results } });
}

function namesKey(id: string, { messages }: DelayqueueKeys): string {
  return `id is ${quote(id)}, so its payload would lie in ${quote(messages + id)}, which is a key of the queue itself; accepted is another id.`;
}

function isElsewhere(id: string, { messages }: DelayqueueKeys): string {
  return (
    `The message ${quote(id)} was not stored, since ${quote(messages + id)} is there and not of this queue: queues of one name ` +
    "share their payload keys, whatever their prefixes. Give this message another id, or the queues different names."
  );
}
