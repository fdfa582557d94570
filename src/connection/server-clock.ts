import { type CancelTimer, type Clock, timerClock } from "../clock.js";
import { runPrecisely } from "./precise-timer.js";

/** Where a `ServerClock` reads the time of this machine. */
export interface LocalTime {
  /** A clock that never steps, ms. Default `performance.now()`. */
  readonly monotonic?: (() => number) | undefined;
  /** Unix time, ms; only a first guess, until the server has told its own. Default `Date.now()`. */
  readonly wall?: (() => number) | undefined;
}

/** What the server said the time was, and when we asked and heard, by the monotonic clock. */
export interface TimeSample {
  /** Unix ms. The true time when it was taken lay between this and `resolution` later. */
  readonly serverTime: number;
  /** ms; 1 for whole milliseconds. */
  readonly resolution: number;
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** How far the server's clock is ahead of the monotonic one: at least and at most, ms. */
interface Offset {
  lower: number;
  upper: number;
}

/**
 * A sample counts for one to three of these, ms. Shorter, and a client that asks only every 5 s has none left; longer, and
 * the drift between two clocks shows.
 */
const span = 5_000;

/** Less than this is drift, which may show with any reply, ms. What is planned by the clock can bear it. */
const step = 1_000;

/**
 * The clock of a Redis server, estimated from its replies.
 *
 * A reply proves that the server's time was taken after we asked and before we heard, so each one bounds the offset between
 * the two clocks on both sides. The best bounds of the last seconds count. A reply that lies outside of them proves that
 * a clock has stepped; then it alone counts, at once.
 */
export class ServerClock implements Clock {
  readonly #monotonic: () => number;
  readonly #timers: Clock;
  /** Timers that wait: each sets itself anew, `by` ms later than before. */
  readonly #armed = new Set<(by: number) => void>();
  readonly #stepListeners = new Set<() => void>();
  #firstGuess: number;
  #current: Offset | undefined;
  #previous: Offset | undefined;
  #currentSince = 0;

  constructor({ monotonic = () => performance.now(), wall = () => Date.now() }: LocalTime = {}) {
    this.#monotonic = monotonic;
    this.#firstGuess = wall() - monotonic();
    this.#timers = timerClock(() => this.now(), globalThis, monotonic);
  }

  /** At the latest the true time, as far as the replies tell. Before the first of them, the time of this machine. */
  now(): number {
    const lower = Math.max(this.#current?.lower ?? -Infinity, this.#previous?.lower ?? -Infinity);
    return this.#monotonic() + (lower === -Infinity ? this.#firstGuess : lower);
  }

  /**
   * At the earliest the true time: what must not happen before a server time waits for `now()`, what must be over by then
   * ends at this.
   */
  latest(): number {
    const upper = Math.min(this.#current?.upper ?? Infinity, this.#previous?.upper ?? Infinity);
    return this.#monotonic() + (upper === Infinity ? this.#firstGuess : upper);
  }

  runAt(time: number, callback: () => void): CancelTimer {
    let at = time;
    let cancel: CancelTimer;
    const arm = () => {
      cancel = runPrecisely(this.#timers, at, () => {
        this.#armed.delete(rearm);
        callback();
      });
    };
    const rearm = (by: number) => {
      cancel();
      at += by;
      arm();
    };
    arm();
    this.#armed.add(rearm);
    return () => {
      this.#armed.delete(rearm);
      cancel();
    };
  }

  elapsed(): number {
    return this.#monotonic();
  }

  /** Of no concern to the server: a step of its clock changes nothing. */
  runAfter(duration: number, callback: () => void): CancelTimer {
    return this.#timers.runAfter(duration, callback);
  }

  /** Hears when the server's clock has stepped by a second or more. Gives a function that ends it. */
  onStep(listener: () => void): () => void {
    const hearer = () => listener();
    this.#stepListeners.add(hearer);
    return () => this.#stepListeners.delete(hearer);
  }

  /** Learns from a reply. */
  learn({ serverTime, resolution, sentAt, receivedAt }: TimeSample): void {
    const heard: Offset = { lower: serverTime - receivedAt, upper: serverTime + resolution - sentAt };
    const isFirst = this.#current === undefined && this.#previous === undefined;
    const before = this.now();
    const stepped = [this.#current, this.#previous].some(
      (known) => known !== undefined && (heard.lower > known.upper || heard.upper < known.lower),
    );
    this.#slide(receivedAt);
    if (stepped) this.#current = this.#previous = undefined;
    if (this.#current === undefined) {
      this.#current = heard;
      this.#currentSince = receivedAt;
    } else {
      this.#current.lower = Math.max(this.#current.lower, heard.lower);
      this.#current.upper = Math.min(this.#current.upper, heard.upper);
    }
    // Until the server has told a time nobody could wait for one, only for so long: with a machine an hour ahead a pause of
    // 50 ms would now last an hour. Later, timers were set for as long as the old clock said.
    if (isFirst) for (const rearm of this.#armed) rearm(this.now() - before);
    else if (stepped) {
      for (const rearm of this.#armed) rearm(0);
      if (Math.abs(this.now() - before) >= step) for (const listener of this.#stepListeners) listener();
    }
  }

  #slide(to: number): void {
    const age = to - this.#currentSince;
    if (age < span) return;
    this.#previous = age < 2 * span ? this.#current : undefined;
    this.#current = undefined;
  }
}
