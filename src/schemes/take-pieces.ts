import type { PunctualError } from "../errors.js";
import type { Taken } from "./holdings.js";
import type { ReadRequest } from "./scripts/read.js";

/** What a claim takes at most (promise 9). */
const most = 1_000;
const mostBytes = 1024 * 1024;
/** How many are read at once: one reply of them fits into what a socket takes. */
const mostAtOnce = 100;

/** What is wanted of the head of a zset. */
export interface PieceRequest extends ReadRequest {
  /** How many the claim has room for: with so many it is full. */
  readonly room: number;
}

/** What was read of the head of a zset, and what of it was removed. */
export interface Piece {
  readonly read: readonly Taken[];
  readonly ours: readonly Taken[];
  /** Whether there may be more that are due. */
  readonly more: boolean;
  /** What kept others of those that were read from being ours; some of them may be nowhere now. */
  readonly failure?: PunctualError | undefined;
}

/** What was taken for a claim, and what went wrong on the way. */
export interface Haul {
  readonly taken: Taken[];
  readonly failure?: unknown;
}

/**
 * Takes up to `limit` messages, a few at a time, until there are no more or they are about 1 MiB. What it took is delivered,
 * whatever becomes of the pieces that follow.
 */
export async function takePieces(limit: number, take: (request: PieceRequest) => Promise<Piece>): Promise<Haul> {
  const taken: Taken[] = [];
  let bytes = mostBytes;
  let largest = 0;
  while (taken.length < Math.min(limit, most) && largest <= bytes) {
    const room = limit - taken.length;
    try {
      const request = { limit: Math.min(room, most - taken.length, mostAtOnce), bytes, largest, room };
      const { read, ours, more, failure } = await take(request);
      largest = Math.max(largest, ...read.map(({ member }) => member.bytes.length));
      taken.push(...ours);
      bytes -= ours.reduce((sum, { member }) => sum + member.bytes.length, 0);
      if (failure !== undefined) return { taken, failure };
      if (!more || ours.length === 0) break;
    } catch (failure) {
      if (taken.length === 0) throw failure;
      return { taken, failure };
    }
  }
  return { taken };
}

/** Those that may be taken together: a claim gives an id once, so another one with it stays where it is for a later claim. */
export function firstOfEachId(read: readonly Taken[]): Taken[] {
  const ids = new Set<string>();
  return read.filter(({ member: { id } }) => ids.size !== ids.add(id).size);
}
