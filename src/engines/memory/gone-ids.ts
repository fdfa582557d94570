/** Expired entries at most that are dropped for each that is added: with two they become fewer whenever there are any. */
const droppedForEach = 2;

/** The ids of messages that are gone, as long as they are to be remembered. */
export class GoneIds {
  /** Those that went longest ago come first. */
  readonly #gone = new Map<string, { readonly at: number; readonly until: number }>();
  #rememberFor = 0;

  /** How long ids are remembered that go from now on, ms; 0 changes nothing, because somebody else may have asked for it. */
  rememberFor(duration: number): void {
    if (duration > 0) this.#rememberFor = Math.ceil(duration);
  }

  /** Notes that the message with this id is gone. */
  add(id: string, now: number): void {
    if (this.#rememberFor === 0) return;
    const at = Math.floor(now);
    // Deleted first, so that it goes to the end.
    this.#gone.delete(id);
    this.#gone.set(id, { at, until: at + this.#rememberFor });
    let dropped = 0;
    for (const [other, { until }] of this.#gone) {
      if (dropped === droppedForEach || until > now) break;
      this.#gone.delete(other);
      dropped += 1;
    }
  }

  /** When the message with this id went, if it is remembered. */
  wentAt(id: string, now: number): number | undefined {
    const gone = this.#gone.get(id);
    return gone && gone.until > now ? gone.at : undefined;
  }

  /** How many ids are kept. */
  get size(): number {
    return this.#gone.size;
  }
}
