import { describe, expect, it } from "vitest";
import { PunctualError } from "../errors.js";
import { bytesPerCall, inChunks } from "./in-chunks.js";

const numbers = (length: number) => Array.from({ length }, (_, n) => n);
const byName = { id: String };

/** Answers with the items themselves, and remembers how many it was given. */
function echo(most = Infinity) {
  const sizes: number[] = [];
  const call = async <Item>(chunk: readonly Item[]) => {
    sizes.push(chunk.length);
    return chunk.slice(0, most);
  };
  return { sizes, call };
}

describe("inChunks", () => {
  it("gives all answers in order from calls of 250 items", async () => {
    const { sizes, call } = echo();
    expect(await inChunks(numbers(501), byName, call)).toEqual(numbers(501));
    expect(sizes).toEqual([250, 250, 1]);
  });

  it("makes no call for nothing", async () => {
    const { sizes, call } = echo();
    expect(await inChunks([], byName, call)).toEqual([]);
    expect(sizes).toEqual([]);
  });

  it("begins another call before the bytes of one are too many, one item at least", async () => {
    const { sizes, call } = echo();
    const bytes = [bytesPerCall * 3, 1, bytesPerCall - 1, 1, 1, bytesPerCall + 1];
    const items = bytes.map((size, id) => ({ id, size }));
    await inChunks(items, { id: ({ id }) => String(id), bytes: ({ size }) => size }, call);
    expect(sizes).toEqual([1, 2, 2, 1]);
  });

  it("begins another call at an id that is in this one already", async () => {
    const { sizes, call } = echo();
    const items = ["a", "b", "a", "a", "b", "c"];
    expect(await inChunks(items, byName, call)).toEqual(items);
    expect(sizes).toEqual([2, 1, 3]);
  });

  it("sends again what a call left over, and not much more than it can do", async () => {
    const { sizes, call } = echo(2);
    expect(await inChunks(numbers(20), byName, call)).toEqual(numbers(20));
    expect(Math.max(...sizes.slice(1))).toBeLessThanOrEqual(10);
  });

  it("tells what is known when a call fails", async () => {
    const cause = new Error("read ECONNRESET");
    const call = async (chunk: readonly number[]) => {
      if (chunk.includes(700)) throw new PunctualError("outcome-unknown", "lost", { cause, details: { target: "x" } });
      return chunk;
    };
    const failure = await inChunks(numbers(1_200), byName, call).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "outcome-unknown", message: "lost", cause, details: { target: "x" } });
    const results = failure instanceof PunctualError ? failure.details["results"] : undefined;
    expect(results).toEqual(numbers(1_200).map((n) => (n < 500 ? n : undefined)));
  });

  it("fails rather than to go round for ever when a call answers nothing", async () => {
    await expect(inChunks(numbers(3), byName, async () => [])).rejects.toMatchObject({ code: "outcome-unknown" });
  });
});
