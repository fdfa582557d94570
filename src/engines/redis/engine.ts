import type { RedisOptions } from "../../connection/redis-options.js";
import type { DeadLetterBounds, DeadLetterOptions } from "../../dead-letter-bounds.js";
import type { Engine, EngineQueue, OpenOptions } from "../../engine.js";
import { type RedisEngineOptions, type RedisEngineSettings, readRedisEngineOptions } from "./engine-options.js";
import { queueKeys } from "./keys.js";
import { RedisQueue } from "./redis-queue.js";
import { ServerClock } from "../../connection/server-clock.js";
import { Supervisor } from "../../connection/supervisor.js";

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
  /** Claims, what follows a claim, and watching: what consumers do. */
  readonly #work: Supervisor;
  /** Everything else. Of its own, so that a bulk schedule does not stand in front of a claim. */
  readonly #calls: Supervisor;

  constructor({ connector, prefix, deadLetters }: RedisEngineSettings) {
    const clock = new ServerClock();
    this.#prefix = prefix;
    this.#deadLetters = deadLetters;
    this.#work = new Supervisor({ connector, clock });
    this.#calls = new Supervisor({ connector, clock });
  }

  open(queue: string, options: OpenOptions = {}): EngineQueue {
    return new RedisQueue({
      work: this.#work,
      calls: this.#calls,
      keys: queueKeys(this.#prefix, queue),
      rememberFor: options.rememberFor,
      bounded: { ...this.#deadLetters, onDropped: options.onDropped },
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.#work.close(), this.#calls.close()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
