import type { Connector } from "../../clients/port.js";
import { type Durability, type DurabilityOptions, readDurability } from "../../connection/durable.js";
import { type RedisOptions, readRedisOptions } from "../../connection/redis-options.js";
import type { ServerWarning } from "../../connection/server-check.js";
import { type DeadLetterBounds, type DeadLetterOptions, parseDeadLetterBounds } from "../../dead-letter-bounds.js";
import { invalidValue } from "../../invalid-argument.js";
import { checkWholeNumber } from "../../whole-number.js";
import { emitOnce } from "./warnings.js";

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
  /**
   * Hears, when the engine first connects and after a failover, of what about the server can lose messages or shift them: an
   * eviction policy, no persistence, a known flaw, a clock that is off. What it throws, or rejects with, is a warning of the
   * process of the type `PunctualListenerError`. Default: a warning of the process of the type `PunctualWarning`, once a kind.
   */
  readonly onWarning?: ((warning: ServerWarning) => void) | undefined;
}

/** The same, checked and with the defaults. */
export interface RedisEngineSettings {
  readonly connector: Connector;
  readonly prefix: string;
  readonly deadLetters: DeadLetterBounds;
  readonly partitions: number;
  readonly durability: Durability | undefined;
  readonly onWarning: (warning: ServerWarning) => void;
}

const mostPartitions = 1_024;

/** Fails with `invalid-argument`, without showing what may hold a password. */
export function readRedisEngineOptions(options: RedisEngineOptions): RedisEngineSettings {
  const settings = readRedisOptions(options, ["deadLetters", "partitions", "durability", "onWarning"]);
  const { partitions = 1, onWarning = emitOnce } = options;
  if (typeof onWarning !== "function") {
    throw invalidValue("onWarning", onWarning, "a function");
  }
  checkWholeNumber(partitions, "partitions", 1, mostPartitions);
  return {
    ...settings,
    deadLetters: parseDeadLetterBounds(options.deadLetters),
    partitions,
    durability: readDurability(options.durability),
    onWarning,
  };
}
