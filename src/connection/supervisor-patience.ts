/** What `Patience.outlasts` gives when it was over first. */
export const gaveUp: unique symbol = Symbol("gave up");

const longestDelay = 2 ** 31 - 1;

/** How long one call waits: until its time is over or its signal aborts. End it when the call has ended. */
export class Patience {
  /** Why it is over; undefined while it lasts. */
  over: "time-out" | "aborted" | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #endsAt: number;
  readonly #now: () => number;
  #giveUp: () => void = () => {};

  /** @param timeout ms; `Infinity` waits for the signal alone. */
  constructor(timeout: number, signal: AbortSignal | undefined, now: () => number) {
    this.#now = now;
    this.#endsAt = now() + timeout;
    this.#signal = signal;
    if (signal?.aborted) this.over = "aborted";
    signal?.addEventListener("abort", this.#abort);
    if (timeout <= longestDelay) {
      // After a blocked event loop the timer comes before the reply that has been lying in the socket: let it be read.
      this.#timer = setTimeout(() => setImmediate(() => setImmediate(() => this.#end("time-out"))), timeout);
    }
  }

  /** What the caller aborted with. */
  get reason(): unknown {
    const reason: unknown = this.#signal?.reason;
    return reason;
  }

  /** ms that are left. */
  get left(): number {
    return this.over === undefined ? Math.max(this.#endsAt - this.#now(), 0) : 0;
  }

  /** Waits for `promise` as long as patience lasts; one at a time. */
  outlasts<T>(promise: Promise<T>): Promise<T | typeof gaveUp> {
    if (this.over !== undefined) {
      promise.catch(() => {});
      return Promise.resolve(gaveUp);
    }
    return new Promise((resolve, reject) => {
      this.#giveUp = () => resolve(gaveUp);
      promise.then(resolve, reject);
    });
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#abort);
  }

  readonly #abort = () => this.#end("aborted");

  #end(why: "time-out" | "aborted"): void {
    this.over ??= why;
    this.#giveUp();
  }
}
