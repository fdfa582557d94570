/** The lateness of many deliveries: start of the handler minus due time, ms. */
export class Lateness {
  readonly #sorted: Float64Array;

  constructor(values: Iterable<number>) {
    this.#sorted = Float64Array.from(values).sort();
  }

  /** How many deliveries were measured. */
  get count(): number {
    return this.#sorted.length;
  }

  /** The smallest lateness that `percent` of the deliveries did not exceed (nearest rank); 0 when there are none. */
  percentile(percent: number): number {
    const rank = Math.max(1, Math.ceil((percent / 100) * this.#sorted.length));
    return this.#sorted[rank - 1] ?? 0;
  }

  /** The greatest lateness; 0 when there are none. */
  get max(): number {
    return this.percentile(100);
  }

  /** How many deliveries were at least `from` and less than `to` late. */
  countBetween(from: number, to: number): number {
    return this.#firstAtLeast(to) - this.#firstAtLeast(from);
  }

  #firstAtLeast(value: number): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sorted[middle] ?? Infinity) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
