/**
 * Where a claim begins to read among the messages that are due, from 0, the first, to 1. Consumers that read the same ones race
 * for each of them, and those that lose have asked in vain: where the last race was lost for the most part, it is somewhere.
 */
export class Skip {
  readonly #random: () => number;
  #contested = false;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  next(): number {
    return this.#contested ? this.#random() : 0;
  }

  /** Notes how many of those that were wanted others had removed. */
  lost(count: number, wanted: number): void {
    this.#contested = count > wanted / 2;
  }
}
