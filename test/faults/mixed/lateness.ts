/** What is later than this counts as this late, ms. */
const latest = 20_000;

/** How late messages are that come due while nothing is wrong. */
export class Lateness {
  /** By ms. */
  readonly #counts = new Uint32Array(latest + 1);
  #total = 0;
  #max = 0;
  #calmFrom = Infinity;

  /** Everything works from this time on, Unix ms. */
  calm(from: number): void {
    this.#calmFrom = from;
  }

  /** From now on something is wrong. */
  trouble(): void {
    this.#calmFrom = Infinity;
  }

  /** A message that was due then started now; it counts if all was well when it came due. */
  note(dueAt: number, at: number): void {
    if (dueAt < this.#calmFrom) return;
    const late = Math.min(latest, Math.max(0, Math.round(at - dueAt)));
    this.#counts[late] = (this.#counts[late] ?? 0) + 1;
    this.#total += 1;
    this.#max = Math.max(this.#max, late);
  }

  get max(): number {
    return this.#max;
  }

  /** What so many percent of them do not exceed, ms. */
  percentile(percent: number): number {
    let left = Math.ceil((this.#total * percent) / 100);
    if (left === 0) return 0;
    return this.#counts.findIndex((some) => (left -= some) <= 0);
  }
}
