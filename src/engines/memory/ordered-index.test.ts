import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OrderedIndex } from "./ordered-index.js";

function newIndex(): OrderedIndex<number> {
  return new OrderedIndex((a, b) => a - b);
}

const numbers = fc.uniqueArray(fc.nat(1_000), { maxLength: 60 });

/** 5,000 numbers, so that there are many chunks, in an order that looks random. */
const many = Array.from({ length: 5_000 }, (_, n) => (n * 7_919) % 5_003);

describe("an ordered index", () => {
  it("gives its items in order, whatever the order in which they came", () => {
    fc.assert(
      fc.property(numbers, (items) => {
        const index = newIndex();
        for (const item of items) index.add(item);
        const sorted = items.toSorted((a, b) => a - b);
        expect([...index]).toEqual(sorted);
        expect([index.first(), index.size]).toEqual([sorted[0], sorted.length]);
      }),
    );
  });

  it("stays in order over many chunks, while items go and come back", () => {
    const index = newIndex();
    for (const item of many) index.add(item);
    const sorted = many.toSorted((a, b) => a - b);
    expect([...index]).toEqual(sorted);
    for (const item of many.slice(0, 4_000)) index.remove(item);
    expect([...index]).toEqual(many.slice(4_000).toSorted((a, b) => a - b));
    for (const item of many.slice(0, 4_000)) index.add(item);
    expect([...index]).toEqual(sorted);
    for (const item of many) index.remove(item);
    expect([[...index], index.size, index.first()]).toEqual([[], 0, undefined]);
  });

  it("takes nothing out for an item that is not inside", () => {
    const index = newIndex();
    index.remove(1);
    index.add(1);
    index.add(3);
    for (const absent of [0, 2, 4]) index.remove(absent);
    expect([[...index], index.size]).toEqual([[1, 3], 2]);
  });

  it.each([-1, 0, 1, 511, 512, 513, 2_500, 5_002, 5_003])(
    "is read from %i on, and knows how many come before",
    (from) => {
      const index = newIndex();
      for (const item of many) index.add(item);
      const sorted = many.toSorted((a, b) => a - b);
      const expected = sorted.filter((item) => item >= from);
      expect([...index.from((item) => item >= from)]).toEqual(expected);
      expect(index.rank((item) => item >= from)).toBe(sorted.length - expected.length);
    },
  );

  it("costs a few comparisons a call, not one an item", () => {
    let comparisons = 0;
    const index = new OrderedIndex<number>((a, b) => {
      comparisons += 1;
      return a - b;
    });
    for (const item of many) index.add(item);
    for (const item of many) index.remove(item);
    expect(comparisons).toBeLessThanOrEqual(2 * many.length * 14);
  });

  it("is empty once it was cleared, and can be filled again", () => {
    const index = newIndex();
    for (const item of many) index.add(item);
    index.clear();
    expect([[...index], index.size]).toEqual([[], 0]);
    index.add(7);
    expect([...index]).toEqual([7]);
  });
});
