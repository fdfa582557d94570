import { type NodeRedisOptions, nodeRedis } from "../../clients/node-redis.js";
import type { Connector } from "../../clients/port.js";
import type { Engine, EngineQueue } from "../../engine.js";
import { PunctualError } from "../../errors.js";
import { queueKeys } from "./keys.js";
import { RedisQueue } from "./redis-queue.js";
import { ServerClock } from "./server-clock.js";
import { Supervisor } from "./supervisor.js";

export type { NodeRedisOptions };

/** Where the Redis is, and under which names to keep messages there. */
export interface RedisEngineOptions extends NodeRedisOptions {
  /**
   * First part of the name of every key, so that applications can share a Redis: letters, digits, `.`, `_` and `-`, at most
   * 64. Default `punctual`.
   */
  readonly prefix?: string | undefined;
}

const prefixPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * Keeps messages in Redis 6.2 or newer. Needs `@redis/client` to be installed. Connects when it is first used, and again
 * whenever the connection is lost. Keeps all promises of the contract, as long as Redis keeps the writes that it confirmed.
 *
 * Fails with `invalid-argument` when the URL or the prefix is wrong.
 */
export function redisEngine(options: RedisEngineOptions): Engine {
  const { prefix = "punctual", ...address } = options;
  return redisEngineOn(nodeRedis(address), prefix);
}

/** @internal The same over any client. */
export function redisEngineOn(connector: Connector, prefix: string): Engine {
  if (!prefixPattern.test(prefix)) {
    throw new PunctualError(
      "invalid-argument",
      `The prefix is ${JSON.stringify(prefix)}; expected 1 to 64 letters, digits, ".", "_" or "-", the first a letter or digit.`,
      { details: { prefix } },
    );
  }
  return new RedisEngine(connector, prefix);
}

class RedisEngine implements Engine {
  readonly name = "redis";
  readonly #prefix: string;
  /** Claims, what follows a claim, and watching: what consumers do. */
  readonly #work: Supervisor;
  /** Everything else. Of its own, so that a bulk schedule does not stand in front of a claim. */
  readonly #calls: Supervisor;

  constructor(connector: Connector, prefix: string) {
    const clock = new ServerClock();
    this.#prefix = prefix;
    this.#work = new Supervisor({ connector, clock });
    this.#calls = new Supervisor({ connector, clock });
  }

  open(queue: string): EngineQueue {
    return new RedisQueue({ work: this.#work, calls: this.#calls, keys: queueKeys(this.#prefix, queue) });
  }

  async close(): Promise<void> {
    await Promise.all([this.#work.close(), this.#calls.close()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
