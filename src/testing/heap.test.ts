import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Heap, type HeapItem } from "./heap.js";

interface Item extends HeapItem {
  readonly rank: number;
}

function newHeap(): Heap<Item> {
  return new Heap((a, b) => a.rank < b.rank);
}

function drain(heap: Heap<Item>): number[] {
  const ranks: number[] = [];
  for (let first = heap.peek(); first; first = heap.peek()) {
    heap.remove(first);
    ranks.push(first.rank);
  }
  return ranks;
}

const distinctRanks = fc.uniqueArray(fc.nat(1_000), { maxLength: 60 });

describe("a heap", () => {
  it("gives its items in order, whatever the order in which they came", () => {
    fc.assert(
      fc.property(distinctRanks, (ranks) => {
        const heap = newHeap();
        for (const rank of ranks) heap.push({ rank, slot: -1 });
        expect(drain(heap)).toEqual(ranks.toSorted((a, b) => a - b));
      }),
    );
  });

  it("stays in order when items are taken out of its middle", () => {
    fc.assert(
      fc.property(distinctRanks, fc.array(fc.nat(59), { maxLength: 30 }), (ranks, taken) => {
        const heap = newHeap();
        const items = ranks.map((rank): Item => ({ rank, slot: -1 }));
        for (const item of items) heap.push(item);
        const gone = new Set<number>();
        for (const item of taken.map((place) => items[place])) {
          if (!item || item.slot < 0) continue;
          heap.remove(item);
          gone.add(item.rank);
        }
        expect(drain(heap)).toEqual(ranks.filter((rank) => !gone.has(rank)).toSorted((a, b) => a - b));
      }),
    );
  });

  it("moves the item that fills a gap up where it comes before those above the gap", () => {
    const heap = newHeap();
    const items = [0, 10, 1, 20, 21, 30, 2].map((rank): Item => ({ rank, slot: -1 }));
    for (const item of items) heap.push(item);
    // The last, 2, comes from the other side of the heap into the gap below 10.
    const twenty = items.find(({ rank }) => rank === 20);
    if (twenty) heap.remove(twenty);
    expect(drain(heap)).toEqual([0, 1, 2, 10, 21, 30]);
  });

  it("costs a few comparisons a call, not one an item", () => {
    let comparisons = 0;
    const heap = new Heap<Item>((a, b) => {
      comparisons += 1;
      return a.rank < b.rank;
    });
    const count = 2 ** 14;
    // Descending, so that each push rises to the top.
    for (let rank = count; rank > 0; rank--) heap.push({ rank, slot: -1 });
    expect(comparisons).toBeLessThanOrEqual(count * 14);
    comparisons = 0;
    drain(heap);
    expect(comparisons).toBeLessThanOrEqual(count * 2 * 14);
  });

  it("shows the items at its front, and looks at no others but their neighbours", () => {
    fc.assert(
      fc.property(distinctRanks, fc.nat(1_000), (ranks, limit) => {
        const heap = newHeap();
        for (const rank of ranks) heap.push({ rank, slot: -1 });
        let looks = 0;
        const leading = heap.leading((item) => {
          looks += 1;
          return item.rank <= limit;
        });
        const found = [...leading].map((item) => item.rank).toSorted((a, b) => a - b);
        expect(found).toEqual(ranks.filter((rank) => rank <= limit).toSorted((a, b) => a - b));
        expect(looks).toBeLessThanOrEqual(2 * found.length + 1);
      }),
    );
  });
});
