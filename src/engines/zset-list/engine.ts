import type { RedisOptions } from "../../connection/redis-options.js";
import type { Engine } from "../../engine.js";
import { invalidValue } from "../../invalid-argument.js";
import { type Scheme, SchemeEngine } from "../../schemes/scheme-engine.js";
import { wakingKeys } from "../../waking/keys.js";
import { PlainQueue } from "./plain-queue.js";
import { reliableKeys } from "./reliable-keys.js";
import { ReliableQueue } from "./reliable-queue.js";

export type { NodeAddress } from "../../clients/server-place.js";
export type { RedisOptions };

/** Where the Redis is, and which kind of queue it keeps. */
export interface ZsetListOptions extends RedisOptions {
  /**
   * Whether a message stays in Redis until it is acknowledged, so that it is delivered at least once. Producers and consumers of
   * a queue need the same. Default false: at most once, as in the article.
   */
  readonly reliable?: boolean | undefined;
}

const plain: Scheme = {
  name: "zset-list",
  options: ["reliable"],
  unbounded: "it keeps no dead letters",
  open: (context, base, options) => {
    const keys = { ...wakingKeys(base), schedule: `${base}:schedule`, ready: `${base}:ready` };
    return new PlainQueue(context, keys, options);
  },
};

const reliable: Scheme = {
  ...plain,
  unbounded: "it keeps all dead letters until they are removed or purged",
  // Under names of their own: its entries are others.
  open: (context, base, options) => new ReliableQueue(context, reliableKeys(`${base}:reliable`), options),
};

/**
 * Keeps messages in a zset until they are due, and then in a list from which consumers pop them. At most once, or with
 * `reliable` at least once. Needs `@redis/client` or `ioredis`.
 *
 * Throws `invalid-argument` when an option is wrong, and `unsupported` for bounds of dead letters.
 */
export function zsetListEngine(options: ZsetListOptions): Engine {
  const { reliable: isReliable, ...rest } = options ?? {};
  if (isReliable !== undefined && typeof isReliable !== "boolean") {
    throw invalidValue("reliable", isReliable, "true or false");
  }
  return new SchemeEngine(isReliable === true ? reliable : plain, typeof options === "object" ? rest : options);
}
