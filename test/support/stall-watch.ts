import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

/** What a timer of 5 ms and a round trip to Redis take on a quiet machine at most, ms. */
const usual = 10;

/**
 * Notes for how long this process and its Redis did not get to run, which no queue can make up for: how long a timer and a
 * round trip after it took. On a quiet machine nothing.
 */
export class StallWatch implements AsyncDisposable {
  readonly #stalls: number[] = [];
  readonly #watching: Promise<void>;
  #ended = false;

  /** `ping` makes a round trip to the server, on a connection of its own. */
  constructor(ping: () => Promise<unknown>) {
    this.#watching = this.#watch(ping);
  }

  /** The longest stall so far, ms. */
  longest(): number {
    return this.percentile(100);
  }

  /** The stall that so many percent of the moments do not exceed, ms. */
  percentile(percent: number): number {
    const sorted = this.#stalls.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0;
  }

  /** Waits for the round trip under way, since its connection is closed next. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended = true;
    await this.#watching;
  }

  async #watch(ping: () => Promise<unknown>): Promise<void> {
    while (!this.#ended) {
      const start = performance.now();
      await sleep(5);
      await ping();
      this.#stalls.push(Math.max(0, performance.now() - start - usual));
    }
  }
}
