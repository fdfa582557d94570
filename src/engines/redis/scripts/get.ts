import type { Reply } from "../../../clients/port.js";
import type { MessageState, StoredMessage } from "../../../engine.js";
import type { QueueKeys } from "../keys.js";
import { decodeMessage } from "../../../scripting/message-body.js";
import { decodeFailure } from "../message-format.js";
import { asArray, asBytes, asNumber, asWord } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { sources } from "./sources.generated.js";

const script = defineScript("get", sources["get"], {
  keys: ["schedule", "messages", "leases", "leased", "failures", "dead", "state"],
  harmlessWhenLate: true,
});

/** Messages in one call at most. With 1 KiB each, 250 took Redis 2.8 ms on a busy machine (median), and up to 5.3. */
const mostAtOnce = 125;

/** Reads messages without touching them. */
export async function get(
  evaluator: Evaluator,
  keys: QueueKeys,
  ids: readonly string[],
): Promise<(StoredMessage | undefined)[]> {
  return await inChunks(
    ids,
    { id: (id) => id, items: mostAtOnce },
    async (chunk) => await getSome(evaluator, keys, chunk),
  );
}

/** Reads as many as fit into one call, from the first and at least one. */
export async function getSome(
  evaluator: Evaluator,
  keys: QueueKeys,
  ids: readonly string[],
): Promise<(StoredMessage | undefined)[]> {
  const { reply } = await evaluator.evaluate(script, script.keysIn(keys), ids);
  const [now, ...messages] = asArray(reply, "get");
  const time = asNumber(now, "get: now");
  return messages.map((message, index) =>
    message === null ? undefined : readMessage(asArray(message, "get: message"), ids[index] ?? "", time),
  );
}

/** Reads a message as the scripts that read give it. */
export function readMessage(reply: readonly Reply[], id: string, now: number): StoredMessage {
  const [standing, value, due, attempts, deadline, failed, buriedAt] = reply;
  const { payload, headers } = decodeMessage(asBytes(value, "get: value"));
  const dueAt = asNumber(due, "get: dueAt");
  const state = stateOf(asWord(standing, ["waiting", "leased", "dead"], "get: state"), dueAt, now);
  const leaseUntil = asNumber(deadline, "get: leaseUntil");
  const failure = asBytes(failed, "get: failure");
  const { error, errorAt, reason } = failure.length > 0 ? decodeFailure(failure) : noFailure;
  return {
    id,
    state,
    payload,
    dueAt,
    attempt: asNumber(attempts, "get: attempts"),
    ...(headers && { headers }),
    ...(state === "leased" && { leaseUntil }),
    ...(error && { lastError: { ...error, at: errorAt } }),
    // One whose last lease has ended, though nobody has reclaimed it yet, has no reason stored.
    ...(state === "dead" && {
      buried: { reason: leaseUntil > 0 ? "attempts" : reason, at: asNumber(buriedAt, "get: buriedAt") },
    }),
  };
}

const noFailure = { error: undefined, errorAt: 0, reason: "" };

function stateOf(standing: "waiting" | "leased" | "dead", dueAt: number, now: number): MessageState {
  if (standing !== "waiting") return standing;
  return dueAt <= now ? "due" : "scheduled";
}
