/** What lies in a heap knows its place there, so that it can be taken out of the middle without a search. */
export interface HeapItem {
  /** The place in its heap; -1 while it is in none. Written by the heap alone. */
  slot: number;
}

/**
 * A binary heap whose items can be taken out of any place: push, remove and taking the first cost O(log n) comparisons.
 * An item is in one heap at a time.
 */
export class Heap<T extends HeapItem> {
  readonly #items: T[] = [];
  readonly #before: (a: T, b: T) => boolean;

  /** `before` says whether `a` comes before `b`; it must be a strict total order, and must not change for items inside. */
  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The first item, left where it is. */
  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    this.#rise(item, this.#items.length);
  }

  /** Takes an item out that is in this heap. */
  remove(item: T): void {
    const { slot } = item;
    const last = this.#items.pop();
    item.slot = -1;
    if (last === undefined || last === item) return;
    const above = this.#items[(slot - 1) >> 1];
    if (slot > 0 && above !== undefined && this.#before(last, above)) this.#rise(last, slot);
    else this.#sink(last, slot);
  }

  /**
   * The items that match, in no particular order. `matches` must hold for every item that comes before one for which it
   * holds, such as "due by now"; then only these and their neighbours are looked at, not the whole heap.
   */
  *leading(matches: (item: T) => boolean): Generator<T> {
    const open = [0];
    for (let slot = open.pop(); slot !== undefined; slot = open.pop()) {
      const item = this.#items[slot];
      if (item === undefined || !matches(item)) continue;
      open.push(2 * slot + 1, 2 * slot + 2);
      yield item;
    }
  }

  #put(item: T, slot: number): void {
    this.#items[slot] = item;
    item.slot = slot;
  }

  /** Moves the gap at `slot` up until `item` fits into it. */
  #rise(item: T, slot: number): void {
    let gap = slot;
    while (gap > 0) {
      const parent = (gap - 1) >> 1;
      const above = this.#items[parent];
      if (above === undefined || !this.#before(item, above)) break;
      this.#put(above, gap);
      gap = parent;
    }
    this.#put(item, gap);
  }

  /** Moves the gap at `slot` down until `item` fits into it. */
  #sink(item: T, slot: number): void {
    let gap = slot;
    for (;;) {
      let child = 2 * gap + 1;
      let below = this.#items[child];
      if (below === undefined) break;
      const right = this.#items[child + 1];
      if (right !== undefined && this.#before(right, below)) {
        child += 1;
        below = right;
      }
      if (!this.#before(below, item)) break;
      this.#put(below, gap);
      gap = child;
    }
    this.#put(item, gap);
  }
}
