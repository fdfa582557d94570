import type { Taken } from "./holdings.js";

const mostAtOnce = 100;
/** How fast it grows: one large message behind small ones is met with four others, not with a hundred. */
const growth = 4;

/**
 * How many members to read at once, so that they are about as large as they may be. A zset does not tell how large its members
 * are before they are read, so it goes by the largest of those that were read last, and begins with one.
 */
export class ReadSize {
  #most = 1;
  #largest = 0;

  /** How many of those that come next fit into `bytes`; 0 when not one does. */
  fitting(bytes: number): number {
    return this.#largest === 0 ? this.#most : Math.min(this.#most, Math.floor(bytes / this.#largest));
  }

  /** Learns from what was read. */
  learn(read: readonly Taken[]): void {
    if (read.length === 0) return;
    this.#most = Math.min(mostAtOnce, growth * this.#most);
    this.#largest = Math.max(...read.map(({ member }) => member.bytes.length));
  }
}
