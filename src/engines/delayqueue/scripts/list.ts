import type { Reply } from "../../../clients/port.js";
import type { ListPage, ListQuery, MessageState } from "../../../engine.js";
import { refusedCursor } from "../../../list-cursor.js";
import { asArray, asBytes, asNumber } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { DelayqueueKeys } from "../keys.js";
import { readMessage } from "./read-message.js";
import { sources } from "./sources.generated.js";

const script = defineScript("list", sources["list"], {
  keys: ["pending", "ready", "unack", "retry", "counts", "garbage", "messages", "notes", "state"],
  harmlessWhenLate: true,
});

const mostAtOnce = 250;
/** The latest time of `Date`, and so of any message. */
const latest = 8.64e15;

/**
 * Reads a page: by due time, leased messages by when their leases end. `undefined` when due messages lie in the lists of the
 * Go library, which have no order that a page could go on in.
 */
export async function list(
  evaluator: Evaluator,
  keys: DelayqueueKeys,
  { state, from = 0, to = latest, limit, cursor }: ListQuery,
): Promise<ListPage | undefined> {
  const place = cursor === undefined ? [] : decodePlace(state, cursor);
  // The format has no dead letters.
  if (state === "dead") return { messages: [], cursor: undefined };
  const range = [from, to].map((time) => String(Math.min(Math.max(Math.ceil(time), 0), latest)));
  const most = String(Math.min(limit, mostAtOnce));
  const { reply } = await evaluator.evaluate(script, script.keysIn(keys), [state, ...range, most, ...place]);
  const [, listed, messages, score, id, bound] = asArray(reply, "list");
  if (state === "due" && asNumber(listed, "list: listed") > 0) return undefined;
  const lastId = asBytes(id, "list: place");
  return {
    messages: asArray(messages, "list: messages").map((message) => readMessage(message, "list: message")),
    cursor: lastId.length === 0 ? undefined : encodePlace([score, bound], lastId),
  };
}

const headLength = 16;

/** The cursor for a place: score and bound as f64, the id; for people it is opaque. */
function encodePlace(scores: readonly (Reply | undefined)[], id: Buffer): string {
  const head = Buffer.alloc(headLength);
  for (const [index, score] of scores.entries()) head.writeDoubleBE(asNumber(score, "list: score"), index * 8);
  return Buffer.concat([head, id]).toString("base64url");
}

/** Score, id and bound. Fails with `invalid-argument` when it is no cursor that a list of this state gave. */
function decodePlace(state: MessageState, cursor: string): [score: string, id: Buffer, bound: string] {
  const bytes = Buffer.from(cursor, "base64url");
  const isWhole = bytes.toString("base64url") === cursor && bytes.length > headLength;
  const [score = Number.NaN, bound = Number.NaN] = isWhole ? [bytes.readDoubleBE(0), bytes.readDoubleBE(8)] : [];
  const isPlace = [score, bound].every((one) => one >= 0 && one <= latest);
  if (state !== "dead" && isPlace) return [String(score), bytes.subarray(headLength), String(bound)];
  throw refusedCursor(cursor, state);
}
