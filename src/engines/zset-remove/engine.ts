import type { RedisOptions } from "../../connection/redis-options.js";
import type { Engine } from "../../engine.js";
import { memberKeys } from "../../schemes/member-keys.js";
import { type Scheme, SchemeEngine } from "../../schemes/scheme-engine.js";
import { ZsetRemoveQueue } from "./zset-remove-queue.js";

export type { NodeAddress } from "../../clients/server-place.js";
export type { RedisOptions };

const scheme: Scheme = {
  name: "zset-remove",
  unbounded: "it keeps no dead letters",
  open: (context, base, options) => new ZsetRemoveQueue(context, memberKeys(base), options),
};

/**
 * Keeps messages as members of a zset; whoever removes a member delivers it. At most once: what a process holds when it dies
 * is lost. Needs `@redis/client` or `ioredis`.
 *
 * Throws `invalid-argument` when an option is wrong, and `unsupported` for bounds of dead letters.
 */
export function zsetRemoveEngine(options: RedisOptions): Engine {
  return new SchemeEngine(scheme, options);
}
