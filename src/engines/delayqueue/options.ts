import type { RedisOptions } from "../../connection/redis-options.js";
import { type Duration, parseDuration } from "../../duration.js";
import { invalidValue } from "../../invalid-argument.js";

/** Where the Redis is, and how the Go library was told to use it. */
export interface DelayqueueOptions extends RedisOptions {
  /**
   * First part of the names of the keys, but for those of payloads: what the Go library is given as its custom prefix. 1 to 64
   * characters without braces. Default `dp`.
   */
  readonly prefix?: string | undefined;
  /**
   * Whether names have a hash tag, as the Go library makes them for a Cluster; this engine connects to one server. Default
   * false.
   */
  readonly hashTag?: boolean | undefined;
  /** How long the payload of a message stays after it is due; then the message has expired. At least 1 s. Default 1 h. */
  readonly ttl?: Duration | undefined;
  /**
   * How often one of the consumers looks for what programs of the Go library wrote, since those wake nobody. From 10 ms.
   * Default 1 s.
   */
  readonly interval?: Duration | undefined;
  /** Whether to tell the library's channel of events what is done. Default false. */
  readonly reportEvents?: boolean | undefined;
}

/** The same, checked and with the defaults; durations in ms. */
export interface DelayqueueSettings {
  readonly prefix: string;
  readonly hashTag: boolean;
  readonly ttl: number;
  readonly interval: number;
  readonly reportEvents: boolean;
}

/** The names of the options that other engines do not have. */
export const delayqueueOptionNames = ["hashTag", "ttl", "interval", "reportEvents"] as const;

/** Fails with `invalid-argument`. */
export function readDelayqueueOptions({
  prefix = "dp",
  hashTag = false,
  ttl = "1h",
  interval = "1s",
  reportEvents = false,
}: DelayqueueOptions): DelayqueueSettings {
  if (typeof prefix !== "string" || !/^[^{}]{1,64}$/u.test(prefix)) {
    throw invalidValue("prefix", prefix, "1 to 64 characters without braces");
  }
  if (typeof hashTag !== "boolean") throw invalidValue("hashTag", hashTag, "true or false");
  if (typeof reportEvents !== "boolean") throw invalidValue("reportEvents", reportEvents, "true or false");
  return {
    prefix,
    hashTag,
    reportEvents,
    ttl: durationOf("ttl", ttl, 1_000),
    interval: durationOf("interval", interval, 10),
  };
}

function durationOf(argument: string, value: Duration, least: number): number {
  const ms = parseDuration(value, argument);
  if (ms < least) throw invalidValue(argument, value, `a duration of at least ${least} ms`);
  return ms;
}
