import { describe, expect, it } from "vitest";
import { PunctualError } from "../errors.js";
import type { Taken } from "./holdings.js";
import { decodeMember, encodeMember } from "./member.js";
import { firstOfEachId, type Piece, takenFrom, takePieces } from "./take-pieces.js";

const taken = (id: string, size = 10, dueAt = 1): Taken => ({
  member: decodeMember(encodeMember({ id, payload: Buffer.alloc(size), due: { delay: 0 }, onDuplicate: "keep" })),
  dueAt,
});

/** Takes from messages of these sizes, and writes down how many were asked for each time. */
function from(sizes: readonly number[]): { asked: number[]; take: (few: number) => Promise<Piece> } {
  let next = 0;
  const asked: number[] = [];
  return {
    asked,
    async take(few) {
      asked.push(few);
      const read = sizes.slice(next, next + few).map((size, index) => taken(`m-${next + index}`, size));
      next += read.length;
      return { read, ours: read };
    },
  };
}

const many = (count: number, size: number) => Array.from({ length: count }, () => size);

describe("taking piece by piece", () => {
  it("reads as many as fit in any case, and stops at the limit", async () => {
    const { asked, take } = from(many(5_000, 10));
    expect(await takePieces(150, 100, take)).toHaveLength(150);
    expect(asked).toEqual([100, 50]);
  });

  it("begins with one where it is not known how large they are", async () => {
    const { asked, take } = from(many(5_000, 10));
    expect(await takePieces(20, 0, take)).toHaveLength(20);
    expect(asked).toEqual([1, 19]);
  });

  it("reads no more than about 1 MiB, though large ones stand behind small ones", async () => {
    const { asked, take } = from([...many(400, 100), ...many(50, 500_000)]);
    for (let claims = 0; claims < 40; claims++) expect(await takePieces(10, 200, take)).toHaveLength(10);
    expect(await takePieces(10, 500_100, take)).toHaveLength(2);
    expect(asked.slice(-1)).toEqual([2]);
  });

  it("takes 1,000 at most, 100 at a time", async () => {
    const { asked, take } = from(many(5_000, 10));
    expect(await takePieces(100_000, 100, take)).toHaveLength(1_000);
    expect(Math.max(...asked)).toBe(100);
  });

  it("stops when nothing more is due, and asks no further", async () => {
    const { asked, take } = from(many(3, 10));
    expect(await takePieces(100, 100, take)).toHaveLength(3);
    expect(asked).toEqual([100]);
  });

  it("takes about 1 MiB, or one that is larger", async () => {
    const large = from(many(50, 400_000));
    expect(await takePieces(100, 400_100, large.take)).toHaveLength(2);
    const huge = from(many(50, 3_000_000));
    expect(await takePieces(100, 0, huge.take)).toHaveLength(1);
    expect(await takePieces(100, 3_000_100, huge.take)).toHaveLength(1);
  });

  it("keeps what it has when a later piece fails, and fails when the first one does", async () => {
    const { take } = from(many(500, 10));
    let calls = 0;
    const failing = (few: number) =>
      ++calls === 3 ? Promise.reject(new PunctualError("outcome-unknown", "the reply was lost")) : take(few);
    expect(await takePieces(500, 100, failing)).toHaveLength(200);
    calls = 2;
    await expect(takePieces(50, 100, failing)).rejects.toThrow("the reply was lost");
  });

  it("ends when others have taken all that it read", async () => {
    const read = [taken("a")];
    expect(await takePieces(50, 100, async () => ({ read, ours: [] }))).toEqual([]);
  });
});

describe("the members of a reply", () => {
  it("are read flat or in pairs, with their due times", () => {
    const { bytes } = taken("a").member;
    for (const reply of [[bytes, Buffer.from("1700000000123")], [[bytes, Buffer.from("1700000000123")]]]) {
      expect(takenFrom(reply).map(({ member, dueAt }) => [member.id, dueAt])).toEqual([["a", 1_700_000_000_123]]);
    }
  });

  it("are taken together when no two have one id", () => {
    const read = [taken("a", 1), taken("b", 1), taken("a", 2)];
    expect(firstOfEachId(read)).toEqual(read.slice(0, 2));
  });
});
