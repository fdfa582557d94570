import type { StoredMessage } from "../../../engine.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { asArray, asBytes, asNumber } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { KeyExpiryKeys } from "../keys.js";
import { decodeStored } from "../stored-message.js";
import { sources } from "./sources.generated.js";

const script = defineScript("get", sources["get"], { keys: ["state"], harmlessWhenLate: true });

/** Messages in one call at most. */
const mostAtOnce = 125;

/** Reads messages that wait. */
export async function get(
  evaluator: Evaluator,
  keys: KeyExpiryKeys,
  ids: readonly string[],
): Promise<(StoredMessage | undefined)[]> {
  return await inChunks(ids, { id: (id) => id, items: mostAtOnce }, async (chunk) => {
    const names = [...script.keysIn(keys), ...chunk.map((id) => keys.message + id)];
    const { reply } = await evaluator.evaluate(script, names, []);
    const [now, ...messages] = asArray(reply, "get");
    const time = asNumber(now, "get: now");
    return messages.map((message) => (message === null ? undefined : read(asBytes(message, "get: message"), time)));
  });
}

function read(value: Buffer, now: number): StoredMessage {
  const { member, dueAt } = decodeStored(value);
  const { id, payload, delivered: attempt, headers } = member;
  return { id, state: dueAt <= now ? "due" : "scheduled", payload, dueAt, attempt, ...(headers && { headers }) };
}
