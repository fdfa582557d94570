import type { Taken } from "../../schemes/holdings.js";

/**
 * What was popped by calls that blocked, until a claim gives it out. It is in Redis no more, so this process alone can count it
 * among what is due, and purge it.
 */
export class Popped {
  /** In the order in which it was popped; `true`: somebody is about to give it out or to put it back. */
  readonly #all = new Map<Taken, boolean>();

  get size(): number {
    return this.#all.size;
  }

  add(one: Taken): void {
    this.#all.set(one, false);
  }

  /** Up to `limit` of them, the oldest first, which nobody else gets until they are left. They count until they are settled. */
  reserve(limit = Infinity): Taken[] {
    const reserved: Taken[] = [];
    for (const [one, isReserved] of this.#all) {
      if (reserved.length >= limit) break;
      if (!isReserved) reserved.push(one);
    }
    for (const one of reserved) this.#all.set(one, true);
    return reserved;
  }

  /** They stay: whoever comes next may have them. */
  leave(reserved: readonly Taken[]): void {
    for (const one of this.remaining(reserved)) this.#all.set(one, false);
  }

  /** They are somewhere else now. Gives those that were not purged meanwhile. */
  settle(reserved: readonly Taken[]): Taken[] {
    return reserved.filter((one) => this.#all.delete(one));
  }

  /** Those that were not purged meanwhile. */
  remaining(some: readonly Taken[]): Taken[] {
    return some.filter((one) => this.#all.has(one));
  }

  /** What is there now. */
  all(): Taken[] {
    return [...this.#all.keys()];
  }
}
