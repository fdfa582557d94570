/** What a claim gave, so that the same claim can be answered again. */
export interface GivenLeases {
  readonly token: string;
  readonly leaseUntil: number;
  readonly ids: readonly string[];
}

/** How long after its leases have ended a claim is remembered, ms. */
const rememberedFor = 60_000;

/**
 * The last claim of each consumer. A consumer repeats a claim only until it has the answer, so the last is the only one
 * that can come again, and the books stay as small as the number of consumers.
 */
export class LastClaims {
  /** Those that claimed longest ago come first. */
  readonly #claims = new Map<string, GivenLeases>();

  /** The claim with this token, if it gave leases that may still be held. */
  recall(consumer: string, token: string, now: number): GivenLeases | undefined {
    const last = this.#claims.get(consumer);
    return last?.token === token && last.leaseUntil > now ? last : undefined;
  }

  /**
   * Remembers what a claim gave; one that gave nothing may simply run again. Drops consumers that have gone without ending
   * their watch.
   */
  remember(consumer: string, given: GivenLeases, now: number): void {
    this.#claims.delete(consumer);
    if (given.ids.length > 0) this.#claims.set(consumer, given);
    for (const [other, { leaseUntil }] of this.#claims) {
      if (leaseUntil + rememberedFor > now) break;
      this.#claims.delete(other);
    }
  }

  forget(consumer: string): void {
    this.#claims.delete(consumer);
  }
}
