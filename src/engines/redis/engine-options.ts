import type { Connector } from "../../clients/port.js";
import { type RedisOptions, readRedisOptions } from "../../connection/redis-options.js";
import { type DeadLetterBounds, type DeadLetterOptions, parseDeadLetterBounds } from "../../dead-letter-bounds.js";

/** Where the Redis is, and under which names and bounds to keep messages there. */
export interface RedisEngineOptions extends RedisOptions {
  /**
   * How many dead letters each queue keeps, and how long. Whatever buries makes those that are over fall out, and so does
   * each claim; give the same to every engine of a queue. Default: all, for ever.
   */
  readonly deadLetters?: DeadLetterOptions | undefined;
}

/** The same, checked and with the defaults. */
export interface RedisEngineSettings {
  readonly connector: Connector;
  readonly prefix: string;
  readonly deadLetters: DeadLetterBounds;
}

/** Fails with `invalid-argument`, without showing what may hold a password. */
export function readRedisEngineOptions(options: RedisEngineOptions): RedisEngineSettings {
  const settings = readRedisOptions(options, ["deadLetters"]);
  return { ...settings, deadLetters: parseDeadLetterBounds(options.deadLetters) };
}
