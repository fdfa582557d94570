import type { Reply } from "../clients/port.js";
import { PunctualError } from "../errors.js";
import { asArray, asBytes, asNumber, asRows } from "../scripting/reply.js";
import type { Taken } from "./holdings.js";
import { decodeMember } from "./member.js";

/** What a claim takes at most (promise 9). */
const most = 1_000;
const mostBytes = 1024 * 1024;
/** How many are read at once: one reply of them fits into what a socket takes. */
const mostAtOnce = 100;

/** What was read of the head of a zset, and what of it was removed. */
export interface Piece {
  readonly read: readonly Taken[];
  readonly ours: readonly Taken[];
}

/**
 * Takes up to `limit` messages, a few at a time, until there are no more or they are about 1 MiB. `take` is given how many to
 * read: as many as fit in any case, when no member has more than `biggest` bytes; 0 when that is not known. What it took is
 * delivered, whatever becomes of the pieces that follow.
 */
export async function takePieces(
  limit: number,
  biggest: number,
  take: (few: number) => Promise<Piece>,
): Promise<Taken[]> {
  const taken: Taken[] = [];
  let bytes = 0;
  let largest = 0;
  while (taken.length < Math.min(limit, most)) {
    if (largest > mostBytes - bytes) break;
    const fitting = Math.floor((mostBytes - bytes) / (Math.max(biggest, largest) || mostBytes));
    const few = Math.min(limit - taken.length, most - taken.length, mostAtOnce, Math.max(1, fitting));
    try {
      const { read, ours } = await take(few);
      largest = Math.max(largest, ...read.map(({ member }) => member.bytes.length));
      taken.push(...ours);
      bytes += ours.reduce((sum, { member }) => sum + member.bytes.length, 0);
      if (read.length < few || ours.length === 0) break;
    } catch (error) {
      if (taken.length === 0 || !(error instanceof PunctualError)) throw error;
      break;
    }
  }
  return taken;
}

/** The members of a zset and their scores, as a read with WITHSCORES gives them: flat, or in RESP3 a pair each. */
export function takenFrom(reply: Reply): Taken[] {
  return asRows(asArray(reply, "members").flat(), 2, "members").map(([member, score]) => ({
    member: decodeMember(asBytes(member, "member")),
    dueAt: asNumber(score, "score"),
  }));
}

/** Those that may be taken together: a claim gives an id once, so another one with it stays where it is for a later claim. */
export function firstOfEachId(read: readonly Taken[]): Taken[] {
  const ids = new Set<string>();
  return read.filter(({ member: { id } }) => ids.size !== ids.add(id).size);
}
