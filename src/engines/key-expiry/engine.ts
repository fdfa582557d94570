import type { RedisOptions } from "../../connection/redis-options.js";
import type { Engine } from "../../engine.js";
import { type Scheme, SchemeEngine } from "../../schemes/scheme-engine.js";
import { KeyExpiryQueue } from "./key-expiry-queue.js";
import { keyExpiryKeys } from "./keys.js";

export type { NodeAddress } from "../../clients/server-place.js";
export type { RedisOptions };

const scheme: Scheme = {
  name: "key-expiry",
  unbounded: "it keeps no dead letters",
  open: (context, base, options) => new KeyExpiryQueue(context, keyExpiryKeys(base), options),
};

/**
 * Keeps a key for each message that expires when it is due; consumers hear of that from Redis, and take the message. At most
 * once: what a process holds when it dies is lost. Best effort in time: Redis finds expired keys late, the later the more keys
 * wait. Turns on `notify-keyspace-events Ex` where it may. Needs `@redis/client` or `ioredis`.
 *
 * Throws `invalid-argument` when an option is wrong, and `unsupported` for bounds of dead letters.
 */
export function keyExpiryEngine(options: RedisOptions): Engine {
  return new SchemeEngine(scheme, options);
}
