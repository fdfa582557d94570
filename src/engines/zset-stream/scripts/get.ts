import type { Reply } from "../../../clients/port.js";
import type { MessageState, StoredMessage } from "../../../engine.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { asArray, asBytes, asNumber, asText } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { decodeMessage } from "../../../scripting/message-body.js";
import { decodeFailure } from "../formats.js";
import type { StreamKeys } from "../keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("get", sources["get"], {
  keys: ["schedule", "messages", "moved", "stream", "queue", "leases", "copies", "dead", "failures"],
  harmlessWhenLate: true,
});

/** Messages in one call at most: their bodies are read. */
const mostAtOnce = 250;

/** Reads messages as a group has them; `undefined` where it has none. */
export async function get(
  evaluator: Evaluator,
  keys: StreamKeys,
  group: string,
  ids: readonly string[],
): Promise<(StoredMessage | undefined)[]> {
  return await inChunks(ids, { id: (id) => id, items: mostAtOnce }, async (chunk) => {
    const { reply } = await evaluator.evaluate(script, script.keysIn(keys), [group, ...chunk]);
    const [now, rows] = asArray(reply, "get");
    const at = asNumber(now, "get: now");
    return asArray(rows, "get: messages").map((row, index) =>
      row === null ? undefined : readMessage(asArray(row, "get: message"), chunk[index] ?? "", at),
    );
  });
}

function readMessage(row: readonly Reply[], id: string, now: number): StoredMessage {
  const [letter, due, count, leaseUntil, buriedAt, failure, value] = row;
  const { payload, headers } = decodeMessage(asBytes(value, "get: value"));
  const dueAt = asNumber(due, "get: due");
  const state = stateOf(asText(letter, "get: state"), dueAt, now);
  const record = asBytes(failure, "get: failure");
  const { errorAt, reason, error } =
    record.length > 0 ? decodeFailure(record) : { errorAt: 0, reason: "unknown", error: undefined };
  return {
    id,
    state,
    payload,
    dueAt,
    attempt: asNumber(count, "get: attempts"),
    headers,
    ...(state === "leased" && { leaseUntil: asNumber(leaseUntil, "get: leaseUntil") }),
    ...(error !== undefined && { lastError: { ...error, at: errorAt } }),
    ...(state === "dead" && { buried: { reason, at: asNumber(buriedAt, "get: buriedAt") } }),
  };
}

function stateOf(letter: string, dueAt: number, now: number): MessageState {
  if (letter === "l") return "leased";
  if (letter === "x") return "dead";
  return dueAt > now ? "scheduled" : "due";
}
