import type { Reply } from "../../../clients/port.js";
import type { StoredMessage } from "../../../engine.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { asArray, asBytes, asNumber, asText, asWord } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { DelayqueueKeys } from "../keys.js";
import { readFailure, readHeaders } from "../note-text.js";
import { sources } from "./sources.generated.js";

const script = defineScript("get", sources["get"], {
  keys: ["pending", "unack", "counts", "garbage", "messages", "notes", "state"],
  harmlessWhenLate: true,
});

/** Reads messages without touching them. */
export async function get(
  evaluator: Evaluator,
  keys: DelayqueueKeys,
  ids: readonly string[],
): Promise<(StoredMessage | undefined)[]> {
  return await inChunks(ids, { id: (id) => id, items: 250 }, async (chunk) => {
    const { reply } = await evaluator.evaluate(script, script.keysIn(keys), chunk);
    const [, ...messages] = asArray(reply, "get");
    return messages.map((message, index) =>
      message === null ? undefined : readMessage(asArray(message, "get: message"), chunk[index] ?? ""),
    );
  });
}

function readMessage(reply: readonly Reply[], id: string): StoredMessage {
  const [name, payload, due, attempts, deadline, headerText, failedAt, failureText] = reply;
  const state = asWord(name, ["scheduled", "due", "leased"], "get: state");
  const headers = readHeaders(asText(headerText, "get: headers"));
  const failure = readFailure(asText(failureText, "get: error"));
  return {
    id,
    state,
    payload: asBytes(payload, "get: payload"),
    dueAt: asNumber(due, "get: dueAt"),
    attempt: asNumber(attempts, "get: attempts"),
    ...(headers && { headers }),
    ...(failure && { lastError: { ...failure, at: asNumber(failedAt, "get: failedAt") } }),
    ...(state === "leased" && { leaseUntil: asNumber(deadline, "get: leaseUntil") }),
  };
}
