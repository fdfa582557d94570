import type { Reply } from "../../../clients/port.js";
import { asArray, asBytes, asNumber, asText } from "../../../scripting/reply.js";
import { readMessage } from "./get.js";
import type { Part } from "./list.js";

/** Reads the reply {now, [message], time, tail}; a message is its id and then as in get. */
export function readPart(reply: Reply, where: string): Part {
  const [now, rows, time, tail] = asArray(reply, where);
  const at = asNumber(now, `${where}: now`);
  const messages = asArray(rows, `${where}: messages`).map((row) => {
    const [id, ...message] = asArray(row, `${where}: message`);
    return readMessage(message, asText(id, `${where}: id`), at);
  });
  const last = asBytes(tail, `${where}: place`);
  return { messages, next: last.length === 0 ? undefined : { time: asNumber(time, `${where}: place`), tail: last } };
}
