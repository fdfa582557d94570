import type { CommandArgument, Reply } from "../../clients/port.js";
import { asArray, asNumber, asRows, asBytes } from "../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../scripting/script.js";
import type { Taken } from "../holdings.js";
import { decodeMember } from "../member.js";
import { sources } from "./sources.generated.js";

/** The keys of what is read. */
export interface ReadKeys {
  readonly schedule: string;
  readonly state: string;
}

export interface ReadRequest {
  /** Messages at most. */
  readonly limit: number;
  /** Bytes at most, but for one message. */
  readonly bytes: number;
  /** How many bytes the largest has that was read so far; it may be larger than what the queue knows of. */
  readonly largest: number;
  /** Where to begin among those that are due: 0, the default, with the first, 1 with the last. */
  readonly skip?: number | undefined;
}

export interface ReadAnswer {
  readonly read: readonly Taken[];
  /** Whether there may be more that are due. */
  readonly more: boolean;
}

/** For who sends it as a command on a connection of its own, in front of others. */
export const readScript = defineScript("read", sources["read"], {
  keys: ["schedule", "state"],
  harmlessWhenLate: true,
});

/** A read may run at any time: what it has read must still be there when it is removed. */
const whenever = String(Number.MAX_SAFE_INTEGER);

/** Reads messages that are due by the time of the server, and leaves them where they are. */
export async function readDue(evaluator: Evaluator, keys: ReadKeys, request: ReadRequest): Promise<ReadAnswer> {
  return answerFrom((await evaluator.evaluate(readScript, readScript.keysIn(keys), argsOf(request))).reply);
}

/** The same as a command; `answerFrom` reads its reply. It fails with NOSCRIPT where the server does not have the script. */
export function readCommand(keys: ReadKeys, request: ReadRequest): CommandArgument[] {
  const names = readScript.keysIn(keys);
  return ["EVALSHA", readScript.sha1, String(names.length), ...names, whenever, ...argsOf(request)];
}

export function answerFrom(reply: Reply): ReadAnswer {
  const [, more, members] = asArray(reply, "read");
  const read = asRows(members, 2, "read: members").map(([member, dueAt]) => ({
    member: decodeMember(asBytes(member, "read: member")),
    dueAt: asNumber(dueAt, "read: due time"),
  }));
  return { read, more: asNumber(more, "read: more") === 1 };
}

function argsOf({ limit, bytes, largest, skip = 0 }: ReadRequest): string[] {
  return [String(limit), String(bytes), String(largest), String(skip)];
}
