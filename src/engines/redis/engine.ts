import { Connections } from "../../connection/connections.js";
import type { RedisOptions } from "../../connection/redis-options.js";
import type { Connected } from "../../connection/supervisor.js";
import type { DeadLetterBounds, DeadLetterOptions } from "../../dead-letter-bounds.js";
import type { Engine, EngineQueue, OpenOptions } from "../../engine.js";
import { type RedisEngineOptions, type RedisEngineSettings, readRedisEngineOptions } from "./engine-options.js";
import { Enlisting, once } from "./enlisting.js";
import { type QueueKeys, queueKeys } from "./keys.js";
import { PartitionedQueue } from "./partitioned-queue.js";
import { RedisQueue } from "./redis-queue.js";
import { enlist } from "./scripts/enlist.js";

export type { DeadLetterOptions, RedisEngineOptions, RedisOptions };

/**
 * Keeps messages in Redis 6.2 or newer. Needs `@redis/client` or `ioredis` to be installed. Connects when it is first used,
 * and again whenever the connection is lost. Keeps all promises of the contract, as long as Redis keeps the writes that it
 * confirmed.
 *
 * Throws `invalid-argument` when an option is wrong.
 */
export function redisEngine(options: RedisEngineOptions): Engine {
  return new RedisEngine(readRedisEngineOptions(options));
}

class RedisEngine implements Engine {
  readonly name = "redis";
  readonly #prefix: string;
  readonly #deadLetters: DeadLetterBounds;
  readonly #connections: Connections;

  readonly #partitions: number;

  constructor({ connector, prefix, deadLetters, partitions }: RedisEngineSettings) {
    this.#prefix = prefix;
    this.#partitions = partitions;
    this.#deadLetters = deadLetters;
    this.#connections = new Connections(connector);
  }

  open(queue: string, options: OpenOptions = {}): EngineQueue {
    if (this.#partitions === 1) {
      const keys = queueKeys(this.#prefix, queue);
      return this.#queueOn(keys, this.#connections.for(keys.state), options);
    }
    const whole = queueKeys(this.#prefix, queue);
    const ready = once(() => enlist(this.#connections.for(whole.state).calls, whole, this.#partitions));
    return new PartitionedQueue(this.#partitions, (place) => {
      // A queue has no slash in its name, so no other queue has these keys.
      const keys = queueKeys(this.#prefix, `${queue}/${place}`);
      const { work, calls } = this.#connections.for(keys.state);
      return this.#queueOn(keys, { work: new Enlisting(work, ready), calls: new Enlisting(calls, ready) }, options);
    });
  }

  #queueOn(keys: QueueKeys, on: { work: Connected; calls: Connected }, options: OpenOptions): RedisQueue {
    return new RedisQueue({
      ...on,
      keys,
      rememberFor: options.rememberFor,
      bounded: { ...this.#deadLetters, onDropped: options.onDropped },
    });
  }

  async close(): Promise<void> {
    await this.#connections.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
