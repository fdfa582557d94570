import { systemClock } from "../../clock.js";
import { ServerWatch } from "../../connection/checked-connector.js";
import { Connections } from "../../connection/connections.js";
import type { Durability, DurabilityOptions } from "../../connection/durable.js";
import type { RedisOptions } from "../../connection/redis-options.js";
import type { ServerWarning } from "../../connection/server-check.js";
import type { Connected } from "../../connection/supervisor.js";
import type { DeadLetterBounds, DeadLetterOptions } from "../../dead-letter-bounds.js";
import type { Engine, EngineQueue, OpenOptions } from "../../engine.js";
import { type RedisEngineOptions, type RedisEngineSettings, readRedisEngineOptions } from "./engine-options.js";
import { Enlisting } from "./enlisting.js";
import { type QueueKeys, queueKeys } from "./keys.js";
import { neededCommands } from "./rights.js";
import { PartitionedQueue } from "./partitioned-queue.js";
import { PartitionsNote } from "./partitions-note.js";
import { RedisQueue } from "./redis-queue.js";
import { enlist } from "./scripts/enlist.js";
import { TellingHowSplit } from "./split-otherwise.js";

export type { NodeAddress } from "../../clients/server-place.js";
export type { DeadLetterOptions, DurabilityOptions, RedisEngineOptions, RedisOptions, ServerWarning };

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
  readonly #durability: Durability | undefined;
  readonly #partitions: number;

  constructor({ connector, prefix, deadLetters, partitions, durability, onWarning }: RedisEngineSettings) {
    this.#prefix = prefix;
    this.#partitions = partitions;
    this.#deadLetters = deadLetters;
    this.#durability = durability;
    const watch = new ServerWatch({ commands: neededCommands, clock: systemClock, onWarning });
    this.#connections = new Connections(connector, { durability, watch });
  }

  open(queue: string, options: OpenOptions = {}): EngineQueue {
    const whole = queueKeys(this.#prefix, queue);
    const telling = (inner: Connected) => new TellingHowSplit(inner, queue, this.#partitions);
    if (this.#partitions === 1) {
      const { work, calls, durable } = this.#connections.for(whole.state);
      const on = { work: telling(work), calls: telling(calls), durable: durable && telling(durable) };
      return this.#queueOn(whole, on, options);
    }
    const noted = this.#connections.for(whole.state).calls;
    const note = new PartitionsNote(noted, (call) => enlist(telling(noted), whole, this.#partitions, call));
    return new PartitionedQueue(whole.schedule, this.#partitions, (place) => {
      // A queue has no slash in its name, so no other queue has these keys.
      const keys = queueKeys(this.#prefix, `${queue}/${place}`);
      const { work, calls, durable } = this.#connections.for(keys.state);
      const on = {
        work: new Enlisting(work, note),
        calls: new Enlisting(calls, note),
        durable: durable && new Enlisting(durable, note),
      };
      return this.#queueOn(keys, on, options);
    });
  }

  #queueOn(
    keys: QueueKeys,
    { work, calls, durable }: { work: Connected; calls: Connected; durable?: Connected | undefined },
    options: OpenOptions,
  ): RedisQueue {
    const durability = this.#durability;
    return new RedisQueue({
      work,
      calls,
      durable: durable && durability && { calls: durable, durability },
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
