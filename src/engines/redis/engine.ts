import { type NodeRedisOptions, nodeRedis } from "../../clients/node-redis.js";
import type { Connector } from "../../clients/port.js";
import { type DeadLetterBounds, type DeadLetterOptions, parseDeadLetterBounds } from "../../dead-letter-bounds.js";
import type { Engine, EngineQueue, OpenOptions } from "../../engine.js";
import { PunctualError } from "../../errors.js";
import { queueKeys } from "./keys.js";
import { RedisQueue } from "./redis-queue.js";
import { ServerClock } from "./server-clock.js";
import { Supervisor } from "./supervisor.js";

export type { DeadLetterOptions, NodeRedisOptions };

/** Where the Redis is, and under which names to keep messages there. */
export interface RedisEngineOptions extends NodeRedisOptions {
  /**
   * First part of the name of every key, so that applications can share a Redis: letters, digits, `.`, `_` and `-`, at most
   * 64. Default `punctual`.
   */
  readonly prefix?: string | undefined;
  /**
   * How many dead letters each queue keeps, and how long. Whatever buries makes those that are over fall out, and so does
   * each claim; give the same to every engine of a queue. Default: all, for ever.
   */
  readonly deadLetters?: DeadLetterOptions | undefined;
}

const prefixPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * Keeps messages in Redis 6.2 or newer. Needs `@redis/client` to be installed. Connects when it is first used, and again
 * whenever the connection is lost. Keeps all promises of the contract, as long as Redis keeps the writes that it confirmed.
 *
 * Fails with `invalid-argument` when the URL, the prefix or a bound is wrong.
 */
export function redisEngine(options: RedisEngineOptions): Engine {
  const { prefix = "punctual", deadLetters, ...address } = options;
  return redisEngineOn(nodeRedis(address), prefix, deadLetters);
}

/** @internal The same over any client. */
export function redisEngineOn(connector: Connector, prefix: string, deadLetters?: DeadLetterOptions): Engine {
  if (!prefixPattern.test(prefix)) {
    throw new PunctualError(
      "invalid-argument",
      `The prefix is ${JSON.stringify(prefix)}; expected 1 to 64 letters, digits, ".", "_" or "-", the first a letter or digit.`,
      { details: { prefix } },
    );
  }
  return new RedisEngine(connector, prefix, parseDeadLetterBounds(deadLetters));
}

class RedisEngine implements Engine {
  readonly name = "redis";
  readonly #prefix: string;
  readonly #deadLetters: DeadLetterBounds;
  /** Claims, what follows a claim, and watching: what consumers do. */
  readonly #work: Supervisor;
  /** Everything else. Of its own, so that a bulk schedule does not stand in front of a claim. */
  readonly #calls: Supervisor;

  constructor(connector: Connector, prefix: string, deadLetters: DeadLetterBounds) {
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
