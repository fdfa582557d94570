import type { RedisOptions } from "../../connection/redis-options.js";
import { type DeadLetterOptions, parseDeadLetterBounds } from "../../dead-letter-bounds.js";
import type { Engine } from "../../engine.js";
import { invalidValue } from "../../invalid-argument.js";
import { SchemeEngine } from "../../schemes/scheme-engine.js";
import { ZsetStreamQueue } from "./zset-stream-queue.js";

export type { NodeAddress } from "../../clients/server-place.js";
export type { DeadLetterOptions, RedisOptions };

/** Where the Redis is, and for which group of consumers an engine works. */
export interface ZsetStreamEngineOptions extends RedisOptions {
  /**
   * The group of consumers that this engine consumes and looks for: 1 to 64 letters, digits, `.`, `_` and `-`, the first a letter
   * or digit. Each group gets each message; within one, one consumer at a time does. Default `punctual`.
   */
  readonly group?: string | undefined;
  /**
   * How many dead letters a group keeps, and how long; give the same to every engine of the group. Default: all, for ever.
   */
  readonly deadLetters?: DeadLetterOptions | undefined;
}

const groupPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * Keeps what is scheduled in a zset, and moves what comes due to a stream, where groups of consumers read it. At least once, for
 * each group. Needs Redis 6.2 or newer, and a client library.
 *
 * Throws `invalid-argument` when an option is wrong.
 */
export function zsetStreamEngine(options: ZsetStreamEngineOptions): Engine {
  // What is no object is refused below, with what is accepted.
  const given = typeof options === "object" && options !== null ? options : { url: "" };
  const group = groupOf(given);
  const deadLetters = parseDeadLetterBounds(given.deadLetters);
  return new SchemeEngine(
    {
      name: "zset-stream",
      options: ["group", "deadLetters"],
      open: (context, base, open) => new ZsetStreamQueue(context, { ...open, base, group, deadLetters }),
    },
    options,
  );
}

function groupOf({ group = "punctual" }: ZsetStreamEngineOptions): string {
  if (typeof group === "string" && groupPattern.test(group)) return group;
  throw invalidValue("group", group, '1 to 64 letters, digits, ".", "_" or "-", the first a letter or digit');
}
