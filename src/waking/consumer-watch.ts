import type { Watcher } from "../engine.js";
import { PunctualError } from "../errors.js";
import { leave } from "./leave.js";
import { poll, type WakingKeys } from "./keys.js";
import { commandTimeout, type Connected } from "../connection/supervisor.js";

/** How long a consumer that leaves waits for Redis, ms. When it does not come to it, others find it gone. */
const leaveTimeout = 1_000;

/** Pause before Redis is asked again for a channel that it refused, ms. */
const retryAfter = 1_000;

/** What one consumer hears between its claims: its channel, and whether Redis can be reached. */
export class ConsumerWatch {
  readonly #work: Connected;
  readonly #keys: WakingKeys;
  readonly #consumer: string;
  readonly #watcher: Watcher;
  readonly #ended = new AbortController();
  #unsubscribe: (() => Promise<void>) | undefined;
  #endState: () => void = () => {};
  /** When its last claim ran, Unix ms of the server. */
  #lastClaim: number | undefined;
  /** It was told `interrupted` since it was last told `recovered`. */
  #interrupted = false;
  /** Redis refuses the channel, though it may answer claims. */
  #refused = false;

  constructor(work: Connected, keys: WakingKeys, { consumer, watcher }: { consumer: string; watcher: Watcher }) {
    this.#work = work;
    this.#keys = keys;
    this.#consumer = consumer;
    this.#watcher = watcher;
  }

  /**
   * Waits until the channel is heard. While Redis is out of reach it does not wait for long: the channel is noted, and every
   * new connection hears it before it runs a claim. Fails with `misconfigured` or `closed`.
   */
  async start(): Promise<void> {
    const endState = this.#work.onState((state, cause) => {
      if (state === "ready") this.#recovered();
      else if (cause !== undefined) this.#tellInterrupted(cause);
    });
    // What it waits for, or when it is to claim next, was reckoned by the old time.
    const endStep = this.#work.clock.onStep(() => this.#watcher.wake(this.#work.clock.now()));
    this.#endState = () => {
      endState();
      endStep();
    };
    let waiting = true;
    const subscribed = this.#subscribe().catch((error: unknown) => {
      if (waiting) throw error;
      // Nobody waits for it any more, so it is told where outages are told.
      return this.#subscribeAfter(error);
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, commandTimeout)));
    try {
      await Promise.race([subscribed, late]);
    } catch (error) {
      this.#endState();
      throw error;
    } finally {
      waiting = false;
      clearTimeout(timer);
    }
  }

  /** Notes when a claim of this consumer ran. */
  claimed(now: number): void {
    this.#lastClaim = now;
  }

  /** Takes the consumer off the books. Does its best: when Redis is out of reach, others find out by themselves. */
  async stop(): Promise<void> {
    if (this.#ended.signal.aborted) return;
    this.#endState();
    this.#ended.abort();
    try {
      await leave(this.#work, this.#keys, this.#consumer, { timeout: leaveTimeout });
    } catch (error) {
      if (!(error instanceof PunctualError)) throw error;
    }
    await this.#unsubscribe?.();
  }

  async #subscribe(): Promise<void> {
    const channel = this.#keys.channel + this.#consumer;
    const hear = (message: Buffer) => this.#hear(message.toString("latin1"));
    this.#unsubscribe = await this.#work.subscribe(channel, hear, { signal: this.#ended.signal });
  }

  /** Goes on trying until the channel is heard, the watch has ended, or the engine is closed. */
  async #subscribeAfter(failure: unknown): Promise<void> {
    for (let error = failure; ;) {
      if (this.#ended.signal.aborted || this.#work.closed || !(error instanceof PunctualError)) return;
      this.#refused = true;
      this.#tellInterrupted(error);
      await this.#pause();
      if (this.#ended.signal.aborted) return;
      try {
        await this.#subscribe();
        this.#refused = false;
        this.#recovered();
        return;
      } catch (again) {
        error = again;
      }
    }
  }

  /** Until it is time to ask again, or the watch has ended. */
  async #pause(): Promise<void> {
    const { signal } = this.#ended;
    await new Promise<void>((resolve) => {
      const cancel = this.#work.clock.runAfter(retryAfter, () => {
        signal.removeEventListener("abort", end);
        resolve();
      });
      const end = () => {
        cancel();
        resolve();
      };
      signal.addEventListener("abort", end, { once: true });
    });
  }

  #tellInterrupted(cause: PunctualError): void {
    this.#interrupted = true;
    this.#watcher.interrupted(cause);
  }

  #recovered(): void {
    if (!this.#interrupted || this.#refused) return;
    this.#interrupted = false;
    this.#watcher.recovered();
  }

  /** Messages are made by snippets/wake.lua. */
  #hear(message: string): void {
    const [verb, text] = message.split(" ");
    const at = Number(text);
    if (this.#ended.signal.aborted || !Number.isFinite(at)) return;
    if (verb === "w") this.#watcher.wake(at);
    // A deputy that is put off again and again must still claim now and then, or its health would not be known.
    else if (verb === "p") this.#watcher.postpone(Math.min(at, (this.#lastClaim ?? -Infinity) + poll));
  }
}
