import type { CancelTimer, Clock } from "../../clock.js";
import type { ClaimRequest, ClaimResult } from "../../engine.js";
import type { PunctualError } from "../../errors.js";

/** How long a partition may be silent before others are asked, or are all that counts, ms. A reply from far away takes less. */
export const patience = 200;

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
  /** Its caller was answered: what comes now is handed back. */
  isOver = false;
  readonly #clock: Clock;
  /** By what has elapsed, as all that follows: when those that may be silent were asked. */
  #askedAt: number;
  #areAllAsked = false;
  #firstAnswerAt = Infinity;
  #tell: (isNews: boolean) => void = () => {};

  constructor(request: ClaimRequest, clock: Clock) {
    this.request = request;
    this.#clock = clock;
    this.#askedAt = clock.elapsed();
  }

  /**
   * Until when partitions that say nothing are waited for. One deadline, which only the first answer and the first silence move:
   * else those that answer one after the other would each add their time. As long as none has answered there is nothing to tell.
   */
  get waitsUntil(): number {
    return Math.max(this.#askedAt, this.#firstAnswerAt) + patience;
  }

  /** All that were left are asked at once, since one was silent. */
  allAsked(): void {
    if (!this.#areAllAsked) this.#askedAt = this.#clock.elapsed();
    this.#areAllAsked = true;
  }

  /** A partition has told something. */
  heard(): void {
    this.#firstAnswerAt = Math.min(this.#firstAnswerAt, this.#clock.elapsed());
  }

  /** A partition that was asked answers: it is claimed from in its turn, unless that is too late. */
  answered(place: number): void {
    this.heard();
    if (!this.isOver) this.ready.push(place);
  }

  /** A partition has answered, or failed. */
  ended(place: number): void {
    this.waiting.delete(place);
    this.#tell(true);
  }

  /** Whether the next one ends before this time, by what has elapsed; waits for one at a time. */
  async hears(until: number): Promise<boolean> {
    let cancelTimer: CancelTimer = () => {};
    const isNews = await new Promise<boolean>((resolve) => {
      this.#tell = resolve;
      if (until < Infinity) cancelTimer = this.#clock.runAfter(until - this.#clock.elapsed(), () => resolve(false));
    });
    cancelTimer();
    return isNews;
  }
}
