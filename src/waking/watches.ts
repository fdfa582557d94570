import type { Connected } from "../connection/supervisor.js";
import type { Watcher } from "../engine.js";
import { ConsumerWatch } from "./consumer-watch.js";
import type { WakingKeys } from "./keys.js";

/** The watches of one queue, by consumer. */
export class Watches {
  readonly #work: Connected;
  readonly #keys: WakingKeys;
  readonly #watches = new Map<string, ConsumerWatch>();

  constructor(work: Connected, keys: WakingKeys) {
    this.#work = work;
    this.#keys = keys;
  }

  /**
   * The name of a consumer in Redis. It tells scripts how the consumer is reached: one that listens on a sharded channel has a star
   * in front, which no other name begins with. So processes that connect in different ways wake each other.
   */
  nameOf(consumer: string): string {
    return this.#work.shardedChannels ? `*${consumer}` : consumer;
  }

  /** Notes when a claim of a consumer ran, Unix ms of the server. */
  claimed(consumer: string, now: number): void {
    this.#watches.get(consumer)?.claimed(now);
  }

  /** Begins to tell a consumer when to claim. Disposing of what it gives ends that. */
  async start(consumer: string, watcher: Watcher): Promise<AsyncDisposable> {
    const watch = new ConsumerWatch(this.#work, this.#keys, { consumer: this.nameOf(consumer), watcher });
    await watch.start();
    this.#watches.set(consumer, watch);
    return {
      [Symbol.asyncDispose]: async () => {
        if (this.#watches.get(consumer) === watch) this.#watches.delete(consumer);
        await watch.stop();
      },
    };
  }
}
