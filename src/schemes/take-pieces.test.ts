import { describe, expect, it } from "vitest";
import { PunctualError } from "../errors.js";
import type { Taken } from "./holdings.js";
import { decodeMember, encodeMember } from "./member.js";
import { firstOfEachId, type Piece, type PieceRequest, takePieces } from "./take-pieces.js";

const taken = (id: string, size = 10, dueAt = 1): Taken => ({
  member: decodeMember(encodeMember({ id, payload: Buffer.alloc(size), due: { delay: 0 }, onDuplicate: "keep" })),
  dueAt,
});

/** Takes from messages of these sizes, as far as they fit, and writes down how many were asked for each time. */
function from(sizes: readonly number[]) {
  let next = 0;
  const asked: number[] = [];
  const take = async ({ limit, bytes, largest }: PieceRequest): Promise<Piece> => {
    asked.push(limit);
    const fitting = largest === 0 ? limit : Math.max(1, Math.floor(bytes / largest));
    const read = sizes
      .slice(next, next + Math.min(limit, fitting))
      .map((size, index) => taken(`m-${next + index}`, size));
    next += read.length;
    return { read, ours: read, more: next < sizes.length };
  };
  return { asked, take, takeUpTo: async (limit: number) => (await takePieces(limit, take)).taken };
}

const many = (count: number, size: number) => Array.from({ length: count }, () => size);

describe("taking piece by piece", () => {
  it("stops at the limit", async () => {
    const { asked, takeUpTo } = from(many(5_000, 10));
    expect(await takeUpTo(150)).toHaveLength(150);
    expect(asked).toEqual([100, 50]);
  });

  it("says for how many there is room, and how many bytes are left", async () => {
    const { take } = from(many(5_000, 1_000));
    const requests: PieceRequest[] = [];
    await takePieces(150, (request) => (requests.push(request), take(request)));
    const size = taken("m-10", 1_000).member.bytes.length;
    expect(requests).toMatchObject([
      { limit: 100, room: 150, bytes: 1_048_576, largest: 0 },
      { limit: 50, room: 50, bytes: expect.closeTo(1_048_576 - 100 * size, -3), largest: size },
    ]);
  });

  it("takes 1,000 at most, 100 at a time", async () => {
    const { asked, takeUpTo } = from(many(5_000, 10));
    expect(await takeUpTo(100_000)).toHaveLength(1_000);
    expect(Math.max(...asked)).toBe(100);
  });

  it("stops when nothing more is due, and asks no further", async () => {
    const { asked, takeUpTo } = from(many(3, 10));
    expect(await takeUpTo(100)).toHaveLength(3);
    expect(asked).toEqual([100]);
  });

  it("ends with about 1 MiB, or with one that is larger", async () => {
    const large = from([...many(100, 10), ...many(1, 400_000), ...many(400, 400_000)]);
    expect(await large.takeUpTo(101)).toHaveLength(101);
    expect(await large.takeUpTo(1)).toHaveLength(1);
    const two = from(many(50, 600_000));
    expect((await takePieces(100, (request) => two.take({ ...request, limit: 1 }))).taken).toHaveLength(1);
  });

  it("keeps what it has when a later piece fails, and says how; it fails when the first one does", async () => {
    const { take } = from(many(500, 10));
    const lost = new PunctualError("outcome-unknown", "the reply was lost");
    let calls = 0;
    const failing = (request: PieceRequest) => (++calls === 3 ? Promise.reject(lost) : take(request));
    const { taken: some, failure } = await takePieces(500, failing);
    expect(some).toHaveLength(200);
    expect(failure).toBe(lost);
    calls = 2;
    await expect(takePieces(50, failing)).rejects.toThrow("the reply was lost");
  });

  it("keeps what it has of a piece that failed in part, says how, and asks for no more", async () => {
    const { asked, take } = from(many(500, 10));
    const lost = new PunctualError("outcome-unknown", "the reply was lost");
    const failing = async (request: PieceRequest) => ({ ...(await take(request)), failure: lost });
    expect(await takePieces(500, failing)).toMatchObject({ taken: many(100, 1).map(() => ({})), failure: lost });
    expect(asked).toEqual([100]);
  });

  it("ends when others have taken all that it read", async () => {
    const read = [taken("a")];
    expect(await takePieces(50, async () => ({ read, ours: [], more: true }))).toEqual({ taken: [] });
  });
});

describe("members that are read", () => {
  it("are taken together when no two have one id", () => {
    const read = [taken("a", 1), taken("b", 1), taken("a", 2)];
    expect(firstOfEachId(read)).toEqual(read.slice(0, 2));
  });
});
