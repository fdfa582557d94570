import type { NodeRedisOptions } from "../../clients/node-redis.js";
import { acceptedUrls } from "../../clients/redis-url.js";
import { type DeadLetterBounds, type DeadLetterOptions, parseDeadLetterBounds } from "../../dead-letter-bounds.js";
import { PunctualError } from "../../errors.js";
import { checkOptionNames } from "../../option-names.js";
import { quote } from "../../quote.js";

/** Where the Redis is, and under which names to keep messages there. */
export interface RedisEngineOptions extends NodeRedisOptions {
  /**
   * First part of the name of every key, so that applications can share a Redis: letters, digits, `.`, `_` and `-`, at most
   * 64. Default `punctual`.
   */
  readonly prefix?: string | undefined;
  /**
   * How many dead letters each queue keeps, and how long. Whatever buries makes those that are over fall out, and so does
   * each claim; give the same to every engine of a queue. Default: all, for ever.
   */
  readonly deadLetters?: DeadLetterOptions | undefined;
}

/** The same, checked and with the defaults. */
export interface RedisEngineSettings {
  readonly address: NodeRedisOptions;
  readonly prefix: string;
  readonly deadLetters: DeadLetterBounds;
}

const names = new Set(["url", "username", "password", "tls", "prefix", "deadLetters"]);
const prefixPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Fails with `invalid-argument`, without showing what may hold a password. */
export function readRedisEngineOptions(options: RedisEngineOptions): RedisEngineSettings {
  if (typeof options !== "object" || options === null) {
    // A URL alone is what others take; it may hold a password.
    const given = typeof options === "string" ? "options is a string" : `options is ${quote(options)}`;
    throw refused(
      "options",
      options === undefined ? "options are missing" : given,
      'an object such as { url: "redis://127.0.0.1:6379" }',
    );
  }
  checkOptionNames(options, names, "options");
  const { url, username, password, tls, prefix = "punctual", deadLetters } = options;
  if (typeof url !== "string") {
    throw refused("url", url === undefined ? "url is missing" : `url is ${quote(url)}`, acceptedUrls);
  }
  if (username !== undefined && typeof username !== "string")
    throw refused("username", "username is no string", "text");
  if (password !== undefined && typeof password !== "string")
    throw refused("password", "password is no string", "text");
  if (tls !== undefined && (typeof tls !== "object" || tls === null)) {
    throw refused("tls", "tls is no object", "an object with options of TLS, such as { ca }");
  }
  if (tls !== undefined && !/^rediss:/i.test(url)) {
    throw refused("tls", "tls is given, and the URL does not ask for TLS", "a URL that starts with rediss://");
  }
  if (typeof prefix !== "string" || !prefixPattern.test(prefix)) {
    throw refused(
      "prefix",
      `prefix is ${quote(prefix)}`,
      '1 to 64 letters, digits, ".", "_" or "-", the first a letter or digit',
    );
  }
  return { address: { url, username, password, tls }, prefix, deadLetters: parseDeadLetterBounds(deadLetters) };
}

function refused(argument: string, problem: string, accepted: string): PunctualError {
  return new PunctualError("invalid-argument", `${problem}; accepted is ${accepted}.`, { details: { argument } });
}
