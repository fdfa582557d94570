import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";

/** What a process that has nothing to do is late at most, ms: the timer of the measurement and its rounding. */
const usual = 10;

/** Notes for how long this process did not get to run, which no queue can make up for. On a quiet machine: 0. */
export class StallWatch implements Disposable {
  readonly #delays: IntervalHistogram = monitorEventLoopDelay({ resolution: 5 });

  constructor() {
    this.#delays.enable();
  }

  /** The longest stall so far, ms. */
  longest(): number {
    return Math.max(0, this.#delays.max / 1e6 - usual);
  }

  /** The stall that so many percent of the moments do not exceed, ms. */
  percentile(percent: number): number {
    return Math.max(0, this.#delays.percentile(percent) / 1e6 - usual);
  }

  [Symbol.dispose](): void {
    this.#delays.disable();
  }
}
