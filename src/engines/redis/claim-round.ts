import type { CancelTimer, Clock } from "../../clock.js";
import type { ClaimRequest, ClaimResult } from "../../engine.js";
import type { PunctualError } from "../../errors.js";

/** One claim over all partitions, and what it has come across so far. */
export class ClaimRound {
  readonly request: ClaimRequest;
  /** Partitions to claim from next. */
  readonly ready: number[] = [];
  /** Partitions that were asked and have not answered. */
  readonly waiting = new Set<number>();
  readonly empty: ClaimResult[] = [];
  found: ClaimResult | undefined;
  /** How a partition failed, the last one that did. */
  failure: PunctualError | undefined;
  /** Whether any partition has answered. */
  hasAnswer = false;
  /** Its caller was answered: what comes now is handed back. */
  isOver = false;
  readonly #clock: Clock;
  #tell: (isNews: boolean) => void = () => {};

  constructor(request: ClaimRequest, clock: Clock) {
    this.request = request;
    this.#clock = clock;
  }

  /** A partition that was asked answers: it is claimed from in its turn, unless that is too late. */
  answered(place: number): void {
    this.hasAnswer = true;
    if (!this.isOver) this.ready.push(place);
  }

  /** A partition has answered, or failed. */
  ended(place: number): void {
    this.waiting.delete(place);
    this.#tell(true);
  }

  /** Whether the next one ends within so many ms; waits for one at a time. */
  async hears(duration: number): Promise<boolean> {
    let cancelTimer: CancelTimer = () => {};
    const isNews = await new Promise<boolean>((resolve) => {
      this.#tell = resolve;
      if (duration < Infinity) cancelTimer = this.#clock.runAfter(duration, () => resolve(false));
    });
    cancelTimer();
    return isNews;
  }
}
