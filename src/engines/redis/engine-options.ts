import type { Connector } from "../../clients/port.js";
import { type Durability, type DurabilityOptions, readDurability } from "../../connection/durable.js";
import { type RedisOptions, readRedisOptions } from "../../connection/redis-options.js";
import { type DeadLetterBounds, type DeadLetterOptions, parseDeadLetterBounds } from "../../dead-letter-bounds.js";
import { checkWholeNumber } from "../../whole-number.js";

/** Where the Redis is, and under which names and bounds to keep messages there. */
export interface RedisEngineOptions extends RedisOptions {
  /**
   * How many dead letters each queue keeps, and how long. Whatever buries makes those that are over fall out, and so does
   * each claim; give the same to every engine of a queue. Default: all, for ever.
   */
  readonly deadLetters?: DeadLetterOptions | undefined;
  /**
   * Into how many partitions each queue is split, so that a Redis Cluster can spread it over its nodes: 1 to 1,024. Kept in
   * Redis with the queue; a process that says another number is refused with `misconfigured`. Default 1.
   */
  readonly partitions?: number | undefined;
  /**
   * What a schedule waits for, after its messages were stored. One that does not get it in time fails with `not-confirmed`: the
   * messages are stored and will be delivered, and `details.results` holds what became of each. Default: nothing.
   */
  readonly durability?: DurabilityOptions | undefined;
}

/** The same, checked and with the defaults. */
export interface RedisEngineSettings {
  readonly connector: Connector;
  readonly prefix: string;
  readonly deadLetters: DeadLetterBounds;
  readonly partitions: number;
  readonly durability: Durability | undefined;
}

const mostPartitions = 1_024;

/** Fails with `invalid-argument`, without showing what may hold a password. */
export function readRedisEngineOptions(options: RedisEngineOptions): RedisEngineSettings {
  const settings = readRedisOptions(options, ["deadLetters", "partitions", "durability"]);
  const { partitions = 1 } = options;
  checkWholeNumber(partitions, "partitions", 1, mostPartitions);
  return {
    ...settings,
    deadLetters: parseDeadLetterBounds(options.deadLetters),
    partitions,
    durability: readDurability(options.durability),
  };
}
