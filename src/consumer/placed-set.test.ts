import { describe, expect, it } from "vitest";
import { type Placed, PlacedSet } from "./placed-set.js";

const items = (count: number): Placed[] => Array.from({ length: count }, () => ({}));

describe("PlacedSet", () => {
  it("holds each thing once, in the order in which they were added", () => {
    const [a, b, c] = items(3) as [Placed, Placed, Placed];
    const set = new PlacedSet<Placed>();
    for (const item of [a, b, a, c, b]) set.add(item);
    expect([[...set], set.size, set.has(b)]).toEqual([[a, b, c], 3, true]);
    set.delete(b);
    set.delete(b);
    expect([[...set], set.size, set.has(b)]).toEqual([[a, c], 2, false]);
    set.add(b);
    expect([...set]).toEqual([a, c, b]);
    set.clear();
    expect([[...set], set.size, set.has(a)]).toEqual([[], 0, false]);
  });

  it("does as a Set does, whatever is added and deleted", () => {
    const all = items(200);
    const [set, model] = [new PlacedSet<Placed>(), new Set<Placed>()];
    let at = 1;
    for (let step = 0; step < 2_000; step++) {
      // Long runs of each, so that it grows, closes up and is empty at times.
      at = (at * 48_271) % 2_147_483_647;
      const item = all[at % 200] ?? {};
      const adds = Math.floor(step / 300) % 3 === 0 || at % 5 === 0;
      for (const some of [set, model]) {
        if (adds) some.add(item);
        else some.delete(item);
      }
      const expected = [...model];
      const differs = [...set].some((one, place) => one !== expected[place]);
      expect([set.size, differs]).toEqual([model.size, false]);
    }
  });

  it("may be deleted from while somebody goes through it", () => {
    const all = items(40);
    const set = new PlacedSet<Placed>();
    for (const item of all) set.add(item);
    const met: Placed[] = [];
    for (const item of set) {
      met.push(item);
      for (const other of all.slice(0, 2 * met.length)) set.delete(other);
    }
    expect([met.length, set.size]).toEqual([20, 0]);
  });

  it("needs no more places than twice what it holds, however much comes and goes", () => {
    const set = new PlacedSet<Placed>();
    const stays = items(10);
    for (const item of stays) set.add(item);
    let highest = 0;
    for (const item of items(10_000)) {
      set.add(item);
      highest = Math.max(highest, item.place ?? 0);
      set.delete(item);
    }
    expect([[...set], highest < 50]).toEqual([stays, true]);
  });
});
