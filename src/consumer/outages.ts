/** Tells the beginning and the end of an outage once, whatever number of partitions it meets. */
export class Outages {
  readonly #out = new Set<object>();

  /** One is out of reach; answers whether it is the first. */
  began(part: object): boolean {
    return this.#out.add(part).size === 1;
  }

  /** One can be reached again; answers whether it was the last. */
  ended(part: object): boolean {
    return this.#out.delete(part) && this.#out.size === 0;
  }
}
