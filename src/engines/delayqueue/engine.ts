import type { RedisOptions } from "../../connection/redis-options.js";
import type { Duration } from "../../duration.js";
import type { Engine } from "../../engine.js";
import { type Scheme, SchemeEngine } from "../../schemes/scheme-engine.js";
import { DelayqueueQueue } from "./delayqueue-queue.js";
import { delayqueueKeys } from "./keys.js";
import { type DelayqueueOptions, delayqueueOptionNames, readDelayqueueOptions } from "./options.js";

export type { NodeAddress } from "../../clients/server-place.js";
export type { DelayqueueOptions, Duration, RedisOptions };

/**
 * Shares queues with programs that use the Go library hdt3213/delayqueue: the same keys and values, either side as producer
 * or consumer. At least once. Needs `@redis/client` or `ioredis`, and Redis 6.2 or newer.
 *
 * Throws `invalid-argument` when an option is wrong, and `unsupported` for bounds of dead letters.
 */
export function delayqueueEngine(options: DelayqueueOptions): Engine {
  const isObject = typeof options === "object" && options !== null;
  const settings = readDelayqueueOptions(isObject ? options : { url: "" });
  const scheme: Scheme = {
    name: "delayqueue",
    options: delayqueueOptionNames,
    unbounded: "its format has no dead letters",
    open: (context, _base, opened) =>
      new DelayqueueQueue(context, delayqueueKeys(settings, opened.queue), { ...settings, ...opened }),
  };
  // The prefix is the one of the library, which has rules of its own.
  return new SchemeEngine(scheme, isObject ? { ...options, prefix: undefined } : options);
}
