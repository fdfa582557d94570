import type { Reply } from "../clients/port.js";
import { asArray, asBytes, asNumber, asRows } from "../scripting/reply.js";
import { decodeMember } from "./member.js";
import type { Taken } from "./member-queue.js";

const most = 100;
const first = 10;
const bytes = 1024 * 1024;

/** How many members to read at once, so that they are about 1 MiB at most: by the size of those that were read before. */
export class ReadSize {
  #fits = first;

  atMost(limit: number): number {
    return Math.min(limit, this.#fits);
  }

  learn(taken: readonly Taken[]): void {
    if (taken.length === 0) return;
    const size = taken.reduce((sum, { member }) => sum + member.bytes.length, 0) / taken.length;
    this.#fits = Math.max(1, Math.min(most, 4 * this.#fits, Math.floor(bytes / size)));
  }
}

/** The members of a zset and their scores, as a read with WITHSCORES gives them: flat, or in RESP3 a pair each. */
export function takenFrom(reply: Reply): Taken[] {
  return asRows(asArray(reply, "members").flat(), 2, "members").map(([member, score]) => ({
    member: decodeMember(asBytes(member, "member")),
    dueAt: asNumber(score, "score"),
  }));
}
