import { Connections } from "../../connection/connections.js";
import type { RedisOptions } from "../../connection/redis-options.js";
import type { DeadLetterBounds, DeadLetterOptions } from "../../dead-letter-bounds.js";
import type { Engine, EngineQueue, OpenOptions } from "../../engine.js";
import { type RedisEngineOptions, type RedisEngineSettings, readRedisEngineOptions } from "./engine-options.js";
import { queueKeys } from "./keys.js";
import { RedisQueue } from "./redis-queue.js";

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

  constructor({ connector, prefix, deadLetters }: RedisEngineSettings) {
    this.#prefix = prefix;
    this.#deadLetters = deadLetters;
    this.#connections = new Connections(connector);
  }

  open(queue: string, options: OpenOptions = {}): EngineQueue {
    const keys = queueKeys(this.#prefix, queue);
    return new RedisQueue({
      ...this.#connections.for(keys.state),
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
