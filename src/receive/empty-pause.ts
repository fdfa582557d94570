import type { Clock } from "../clock.js";

const shortest = 10;
const longest = 1_000;

/**
 * Holds back whoever asks again and again while nothing is due: each answer that brings nothing is followed by a pause of
 * 10 ms, doubling to 1 s, in which no further claim is sent. A loop around `receive` that forgot to wait costs the store one
 * command a second, and a caller that comes by more seldom never notices.
 */
export class EmptyPause {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  #pauses = 0;
  #until = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** An answer brought nothing. */
  foundNothing(): void {
    this.#until = this.#clock.now() + Math.min(shortest * 2 ** this.#pauses, longest);
    this.#pauses += 1;
  }

  /** There is, or may be, something to find: the pause is over, and the next one is short. */
  reset(): void {
    if (this.#pauses === 0) return;
    this.#pauses = 0;
    this.#until = Number.NEGATIVE_INFINITY;
    for (const go of Array.from(this.#waiting)) go();
  }

  /** Resolves when the pause is over, or the signal aborts. */
  async over(signal: AbortSignal | undefined): Promise<void> {
    // The clock of a machine can be set back; a pause is never longer than the longest.
    const until = Math.min(this.#until, this.#clock.now() + longest);
    if (until <= this.#clock.now() || signal?.aborted === true) return;
    await new Promise<void>((resolve) => {
      const go = () => {
        cancelTimer();
        signal?.removeEventListener("abort", go);
        this.#waiting.delete(go);
        resolve();
      };
      const cancelTimer = this.#clock.runAt(until, go);
      signal?.addEventListener("abort", go);
      this.#waiting.add(go);
    });
  }
}
