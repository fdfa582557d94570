import type { Clock } from "../clock.js";

const shortest = 50;
const longest = 1_000;

/**
 * Waits between tries of a call to a store that does not answer: 50 ms, doubling to 1 s, up to half of it taken off at
 * random so that consumers do not come back in step.
 */
export class BackOff {
  readonly #clock: Clock;
  readonly #random: () => number;
  #tries = 0;
  #end: (() => void) | undefined;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** How long the next wait is, ms; each call doubles it. */
  nextDelay(): number {
    const bound = Math.min(shortest * 2 ** this.#tries, longest);
    this.#tries += 1;
    return Math.ceil(bound * (1 - this.#random() / 2));
  }

  /** The next wait; `hurry` ends it before its time. */
  wait(): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        this.#end = undefined;
        resolve();
      };
      this.#end = end;
      const cancel = this.#clock.runAfter(this.nextDelay(), end);
    });
  }

  /** Ends the wait that goes on, if one does. */
  hurry(): void {
    this.#end?.();
  }

  /** The call was answered: the next wait is a short one again. */
  reset(): void {
    this.#tries = 0;
  }
}
