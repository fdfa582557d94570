import type { Reply } from "../../../clients/port.js";
import type { StoredMessage } from "../../../engine.js";
import { asArray, asBytes, asNumber, asText, asWord } from "../../../scripting/reply.js";
import { readFailure, readHeaders } from "../note-text.js";

/** Reads a message as the scripts give it: snippets/read.lua. */
export function readMessage(reply: Reply, where: string): StoredMessage {
  const [id, name, payload, due, attempts, deadline, headerText, failedAt, failureText] = asArray(reply, where);
  const state = asWord(name, ["scheduled", "due", "leased"], `${where}: state`);
  const headers = readHeaders(asText(headerText, `${where}: headers`));
  const failure = readFailure(asText(failureText, `${where}: error`));
  return {
    id: asText(id, `${where}: id`),
    state,
    payload: asBytes(payload, `${where}: payload`),
    dueAt: asNumber(due, `${where}: dueAt`),
    attempt: asNumber(attempts, `${where}: attempts`),
    ...(headers && { headers }),
    ...(failure && { lastError: { ...failure, at: asNumber(failedAt, `${where}: failedAt`) } }),
    ...(state === "leased" && { leaseUntil: asNumber(deadline, `${where}: leaseUntil`) }),
  };
}
