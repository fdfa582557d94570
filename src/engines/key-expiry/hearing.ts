import type { Supervisor } from "../../connection/supervisor.js";
import type { Watcher } from "../../engine.js";
import type { PunctualError } from "../../errors.js";
import { poll } from "../../waking/keys.js";
import { Events, type Hearer } from "./events.js";
import { Inbox } from "./inbox.js";
import type { KeyExpiryKeys } from "./keys.js";

interface Listener {
  readonly watcher: Watcher;
  /** It has room, and claims when it is called. */
  waits: boolean;
  /** What came due since its last claim was heard for it. Not so when that claim said that it does not return. */
  hears: boolean;
  /** It was told `interrupted`, and not yet `recovered`. */
  interrupted: boolean;
}

/**
 * What a process hears of a queue for all of its consumers. Every process hears every event, and the first that asks has the
 * message; so in one process only one consumer at a time is called to ask.
 */
export class Hearing implements Hearer {
  readonly inbox = new Inbox();
  readonly #work: Supervisor;
  readonly #keys: KeyExpiryKeys;
  readonly #listeners = new Map<string, Listener>();
  #events: Events | undefined;
  #started: Promise<void> | undefined;
  #endStep: () => void = () => {};
  /** Claims of listeners that are under way. What they leave is asked for by them, or by whoever is called then. */
  #claims = 0;
  #roundAt = -Infinity;
  /** How many events had been heard in the last rounds. */
  #heardBefore: number[] = [];

  constructor(work: Supervisor, keys: KeyExpiryKeys) {
    this.#work = work;
    this.#keys = keys;
  }

  /** Begins to tell a consumer when to claim. */
  async watch(consumer: string, watcher: Watcher): Promise<AsyncDisposable> {
    const listener: Listener = { watcher, waits: false, hears: true, interrupted: false };
    this.#listeners.set(consumer, listener);
    try {
      await (this.#started ??= this.#start());
    } catch (error) {
      await this.#leave(consumer, listener);
      throw error;
    }
    return { [Symbol.asyncDispose]: () => this.#leave(consumer, listener) };
  }

  /**
   * Notes that a consumer is claiming. `watched`: it has a watch, so `claimed` is to be told. `hears`: what came due was heard for
   * it; who does not hear has to look.
   */
  claiming(consumer: string, returns: boolean): { readonly watched: boolean; readonly hears: boolean } {
    const listener = this.#listeners.get(consumer);
    if (listener === undefined) return { watched: false, hears: false };
    const hears = returns && listener.hears;
    listener.waits = false;
    listener.hears = returns;
    this.#claims += 1;
    return { watched: true, hears };
  }

  /** A claim of a consumer with a watch is over. `waits`: it claims again when it is called. */
  claimed(consumer: string, waits: boolean): void {
    this.#claims -= 1;
    const listener = this.#listeners.get(consumer);
    if (listener !== undefined) listener.waits = waits;
    this.#call();
  }

  /**
   * Whether it is time for what is done once a poll by one consumer of a process. It also sees whether events come: each round
   * lets a key expire, and sets it for the next.
   */
  round(): boolean {
    const now = this.#work.clock.elapsed();
    // A consumer that polls comes a little earlier or later each time.
    if (this.#events === undefined || now - this.#roundAt < poll * 0.9) return false;
    this.#roundAt = now;
    const { heard } = this.#events;
    this.#heardBefore.push(heard);
    if (this.#heardBefore.length > 2 && this.#heardBefore.shift() === heard) this.#events.check();
    return true;
  }

  due(ids: readonly string[]): void {
    this.inbox.hear(ids);
    this.#call();
  }

  resumed(): void {
    this.inbox.paused = false;
    this.#call();
  }

  ready(): void {
    this.inbox.missed();
    for (const listener of this.#listeners.values()) {
      if (!listener.interrupted) continue;
      listener.interrupted = false;
      listener.watcher.recovered();
    }
    this.#call();
  }

  trouble(cause: PunctualError): void {
    for (const listener of this.#listeners.values()) {
      listener.interrupted = true;
      listener.watcher.interrupted(cause);
    }
  }

  async #start(): Promise<void> {
    const events = new Events(this.#work, this.#keys, this);
    this.#events = events;
    // When a consumer is to claim next was reckoned by the old time.
    this.#endStep = this.#work.clock.onStep(() => {
      for (const { watcher } of this.#listeners.values()) watcher.wake(this.#work.clock.now());
    });
    await events.start();
  }

  async #leave(consumer: string, listener: Listener): Promise<void> {
    if (this.#listeners.get(consumer) === listener) this.#listeners.delete(consumer);
    if (this.#listeners.size > 0) return this.#call();
    const events = this.#events;
    this.#events = this.#started = undefined;
    this.#heardBefore = [];
    this.#roundAt = -Infinity;
    this.#endStep();
    // The next to listen begins with a sweep.
    this.inbox.clear();
    await events?.stop();
  }

  /** Calls one consumer, if there is something to ask for and nobody who asks. */
  #call(): void {
    if (this.#claims > 0 || !this.inbox.behind) return;
    for (const listener of this.#listeners.values()) {
      if (!listener.waits) continue;
      listener.waits = false;
      listener.watcher.wake(this.#work.clock.now());
      return;
    }
  }
}
