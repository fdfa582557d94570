import { type NodeRedisOptions, nodeRedis } from "../clients/node-redis.js";
import type { Connector } from "../clients/port.js";
import { acceptedUrls } from "../clients/redis-url.js";
import { PunctualError } from "../errors.js";
import { checkOptionNames } from "../option-names.js";
import { quote } from "../quote.js";

/** Where the Redis of an engine is, and under which names it keeps messages there. */
export interface RedisOptions extends NodeRedisOptions {
  /**
   * First part of the name of every key, so that applications can share a Redis: letters, digits, `.`, `_` and `-`, at most
   * 64. Default `punctual`.
   */
  readonly prefix?: string | undefined;
}

/** The same, checked and with the defaults. */
export interface RedisSettings {
  readonly connector: Connector;
  readonly prefix: string;
}

const names = ["url", "username", "password", "tls", "prefix"];
const prefixPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * Reads the options that every engine on a Redis takes; `more` are the names of those that this one takes besides. Fails with
 * `invalid-argument`, without showing what may hold a password.
 */
export function readRedisOptions(options: RedisOptions, more: readonly string[] = []): RedisSettings {
  if (typeof options !== "object" || options === null) {
    // A URL alone is what others take; it may hold a password.
    const given = typeof options === "string" ? "options is a string" : `options is ${quote(options)}`;
    throw refused(
      "options",
      options === undefined ? "options are missing" : given,
      'an object such as { url: "redis://127.0.0.1:6379" }',
    );
  }
  checkOptionNames(options, new Set([...names, ...more]), "options");
  const { url, username, password, tls, prefix = "punctual" } = options;
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
  return { connector: nodeRedis({ url, username, password, tls }), prefix };
}

function refused(argument: string, problem: string, accepted: string): PunctualError {
  return new PunctualError("invalid-argument", `${problem}; accepted is ${accepted}.`, { details: { argument } });
}
