import { CommandFailure, type Reply } from "./port.js";

/** Checks that a reply is what the port promises. Maps and sets of RESP3 become arrays, as in RESP2. */
export function asReply(reply: unknown): Reply {
  if (Buffer.isBuffer(reply) || typeof reply === "number" || reply === null) return reply;
  if (Array.isArray(reply)) return asReplies(reply);
  if (reply instanceof Set) return Array.from(reply, asReply);
  if (typeof reply === "boolean") return reply ? 1 : 0;
  if (typeof reply === "object" && reply !== null)
    return Object.entries(reply).flatMap(([key, value]) => [Buffer.from(key), asReply(value)]);
  throw new CommandFailure("unknown", `a reply of a kind that is not expected: ${typeof reply}`);
}

/** In place: a claim answers with a thousand elements, and nobody else has the array. */
function asReplies(replies: unknown[]): Reply[] {
  replies.forEach((reply, place) => {
    if (!Buffer.isBuffer(reply)) replies[place] = asReply(reply);
  });
  // Each of them was checked.
  return replies as Reply[];
}

/** What an error reply of the server is to the port. */
export function refusal(error: Error): CommandFailure {
  return new CommandFailure("refused", error.message, {
    code: /^[A-Z][A-Z0-9_]*(?= |$)/.exec(error.message)?.[0] ?? "ERR",
    cause: error,
  });
}

/**
 * Whether what ended the making of a connection was an error reply, such as `WRONGPASS …`. It begins with its code, and what
 * the system says has a code beside its text. Classes tell less: a client that was handed in is of a copy of its library that
 * we do not have, and bundlers rename classes.
 */
export function isErrorReply(error: unknown): error is Error {
  return error instanceof Error && !("code" in error) && /^[A-Z][A-Z0-9_]+ /.test(error.message);
}
