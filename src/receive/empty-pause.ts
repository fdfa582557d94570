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
    this.#until = this.#clock.elapsed() + Math.min(shortest * 2 ** this.#pauses, longest);
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
    const left = this.#until - this.#clock.elapsed();
    if (left <= 0 || signal?.aborted === true) return;
    await new Promise<void>((resolve) => {
      const go = () => {
        cancelTimer();
        signal?.removeEventListener("abort", go);
        this.#waiting.delete(go);
        resolve();
      };
      const cancelTimer = this.#clock.runAfter(left, go);
      signal?.addEventListener("abort", go);
      this.#waiting.add(go);
    });
  }
}
