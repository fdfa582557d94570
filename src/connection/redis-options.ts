import type { ConnectionOptions } from "node:tls";
import { clientLibraries, connectorAt } from "../clients/client-library.js";
import { connectorOf } from "../clients/given-client.js";
import type { Connector } from "../clients/port.js";
import { acceptedUrls, addressOf } from "../clients/redis-url.js";
import { PunctualError } from "../errors.js";
import { checkOptionNames } from "../option-names.js";
import { quote } from "../quote.js";

/** Where the Redis of an engine is, and under which names it keeps messages there. Either `url` or `client` is given. */
export interface RedisOptions {
  /** `redis://[user:password@]host[:port][/database]`, `rediss://…` for TLS, or `unix://[user:password@]/path[?db=database]`. */
  readonly url?: string | undefined;
  /**
   * Instead of a URL: a client of node-redis or ioredis, version 5 or 6, whose library and options are used for connections of
   * the engine's own: address, login, TLS, database and name. The client is neither used nor closed.
   */
  readonly client?: { readonly duplicate: (...overrides: never[]) => unknown } | undefined;
  /** Which library connects to the URL. Default: the one that is installed, `"node-redis"` before `"ioredis"`. */
  readonly library?: "node-redis" | "ioredis" | undefined;
  /** Instead of the one in the URL. */
  readonly username?: string | undefined;
  /** Instead of the one in the URL. */
  readonly password?: string | undefined;
  /** Options of TLS, such as `ca`; only with `rediss://`. */
  readonly tls?: ConnectionOptions | undefined;
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

const besideUrl = ["library", "username", "password", "tls"] as const;
const names = ["url", "client", "prefix", ...besideUrl];
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
  const { prefix = "punctual" } = options;
  if (typeof prefix !== "string" || !prefixPattern.test(prefix)) {
    throw refused(
      "prefix",
      `prefix is ${quote(prefix)}`,
      '1 to 64 letters, digits, ".", "_" or "-", the first a letter or digit',
    );
  }
  return { connector: options.client === undefined ? readUrl(options) : readClient(options), prefix };
}

function readUrl({ url, library, username, password, tls }: RedisOptions): Connector {
  if (typeof url !== "string") {
    const problem = url === undefined ? "url is missing" : `url is ${quote(url)}`;
    throw refused("url", problem, `${acceptedUrls}; or a client instead`);
  }
  if (library !== undefined && !clientLibraries.includes(library)) {
    throw refused("library", `library is ${quote(library)}`, clientLibraries.map((name) => `"${name}"`).join(" or "));
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
  return connectorAt(addressOf({ url, username, password }), tls, library);
}

function readClient(options: RedisOptions): Connector {
  const { client, url } = options;
  if (url !== undefined) throw refused("client", "both url and client are given", "one of them");
  if (typeof client !== "object" || client === null)
    throw refused("client", `client is ${quote(client)}`, "a client of node-redis or ioredis");
  for (const name of besideUrl) {
    if (options[name] === undefined) continue;
    throw refused(name, `${name} is given beside client`, `${name} beside url only: the client has its own`);
  }
  return connectorOf(client);
}

function refused(argument: string, problem: string, accepted: string): PunctualError {
  return new PunctualError("invalid-argument", `${problem}; accepted is ${accepted}.`, { details: { argument } });
}
