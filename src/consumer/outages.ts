import { PunctualError } from "../errors.js";

/** Tells the beginning and the end of an outage once, whatever number of partitions it meets. */
export class Outages {
  readonly #out = new Set<object>();
  #isMisconfigured = false;

  /**
   * One is out of reach, or still is, for this reason; answers whether to tell it: of the first one, and once more when somebody
   * has to change something, where waiting seemed enough before.
   */
  isNews(part: object, failure: unknown): boolean {
    const isFirst = this.#out.size === 0;
    this.#out.add(part);
    const isMisconfigured = failure instanceof PunctualError && failure.code === "misconfigured";
    const changes = isMisconfigured && !this.#isMisconfigured;
    this.#isMisconfigured ||= isMisconfigured;
    return isFirst || changes;
  }

  /** One can be reached again; answers whether it was the last. */
  ended(part: object): boolean {
    const isLast = this.#out.delete(part) && this.#out.size === 0;
    if (isLast) this.#isMisconfigured = false;
    return isLast;
  }
}
