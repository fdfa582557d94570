import type { Reply } from "../../../clients/port.js";
import type { StoredMessage } from "../../../engine.js";
import { readFailureText } from "../../../scripting/failure-text.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { decodeMessage } from "../../../scripting/message-body.js";
import { asArray, asBytes, asNumber, asText, asWord } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { ReliableKeys } from "../reliable-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("get", sources["get"], {
  keys: ["schedule", "ready", "messages", "standing", "leases", "dead", "state"],
  harmlessWhenLate: true,
});

/** Messages that one call reads at most. */
const mostAtOnce = 250;

/** Reads messages without touching them. */
export async function get(
  evaluator: Evaluator,
  keys: ReliableKeys,
  ids: readonly string[],
): Promise<(StoredMessage | undefined)[]> {
  return await inChunks(
    ids,
    { id: (id) => id, items: mostAtOnce },
    async (chunk) => await getSome(evaluator, keys, chunk),
  );
}

/** Reads as many as one call may, from the first and at least one. */
export async function getSome(
  evaluator: Evaluator,
  keys: ReliableKeys,
  ids: readonly string[],
): Promise<(StoredMessage | undefined)[]> {
  const { reply } = await evaluator.evaluate(script, script.keysIn(keys), ids);
  const [now, ...messages] = asArray(reply, "get");
  const time = asNumber(now, "get: now");
  return messages.map((message, index) =>
    message === null ? undefined : readMessage(asArray(message, "get: message"), ids[index] ?? "", time),
  );
}

function readMessage(reply: readonly Reply[], id: string, now: number): StoredMessage {
  const [kind, value, due, delivered, at, reason, errorAt, error] = reply;
  const { payload, headers } = decodeMessage(asBytes(value, "get: value"));
  const dueAt = asNumber(due, "get: dueAt");
  const word = asWord(kind, ["w", "l", "d"], "get: kind");
  const state = word === "l" ? "leased" : word === "d" ? "dead" : dueAt <= now ? "due" : "scheduled";
  const lastError = readFailureText(asText(error, "get: error"));
  return {
    id,
    state,
    payload,
    dueAt,
    attempt: asNumber(delivered, "get: deliveries"),
    ...(headers && { headers }),
    ...(state === "leased" && { leaseUntil: asNumber(at, "get: leaseUntil") }),
    ...(lastError && { lastError: { ...lastError, at: asNumber(errorAt, "get: errorAt") } }),
    ...(state === "dead" && {
      buried: { reason: asText(reason, "get: reason"), at: asNumber(at, "get: buriedAt") },
    }),
  };
}
