import type { ConnectionOptions } from "node:tls";
import { clientLibraries, connectorAt } from "../clients/client-library.js";
import { connectorOf } from "../clients/given-client.js";
import type { Connector } from "../clients/port.js";
import { acceptedUrls, addressOf, type RedisAddress } from "../clients/redis-url.js";
import { isSentinelUrl } from "../clients/sentinel-url.js";
import type { NodeAddress } from "../clients/server-place.js";
import { invalidArgument, invalidValue } from "../invalid-argument.js";
import { checkOptionNames } from "../option-names.js";
import { quote } from "../quote.js";
import { clusterOf, sentinelsOf } from "./several-servers.js";

/** Where the Redis of an engine is, and under which names it keeps messages there. One of `url`, `nodes` and `client` is given. */
export interface RedisOptions {
  /**
   * `redis://[user:password@]host[:port][/database]`, `rediss://…` for TLS, or `unix://[user:password@]/path[?db=database]`. With
   * Sentinel: `redis+sentinel://[user:password@]host[:port][,host[:port]…]/<name of the primary>[/<database>]`, where user and
   * password are those of the primary and `?sentinelUsername=…&sentinelPassword=…` those of the sentinels; `rediss+sentinel://…`
   * for TLS with both.
   */
  readonly url?: string | undefined;
  /**
   * Instead of a URL: the URLs of some nodes of a Redis Cluster; the others are learned from them. Login and TLS of the first are
   * those of all that are learned.
   */
  readonly nodes?: readonly string[] | undefined;
  /**
   * With sentinels or a Cluster: where to reach a server that they announce at an address that is none from here. Where it throws,
   * or answers anything but a host and a port from 1 to 65,535, calls fail with `misconfigured`.
   */
  readonly nodeAddress?: NodeAddress | undefined;
  /**
   * Instead of a URL: a client of node-redis or ioredis, version 5 or 6, whose library and options are used for connections of
   * the engine's own: address, login, TLS, database and name. The client is neither used nor closed.
   */
  readonly client?: { readonly duplicate: (...overrides: never[]) => unknown } | undefined;
  /** Which library connects. Default: the one that is installed, `"node-redis"` before `"ioredis"`. */
  readonly library?: "node-redis" | "ioredis" | undefined;
  /** Instead of the one in the URL. */
  readonly username?: string | undefined;
  /** Instead of the one in the URL. */
  readonly password?: string | undefined;
  /** Options of TLS, such as `ca`; only with `rediss://` and `rediss+sentinel://`. */
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

const besideUrl = ["library", "username", "password", "tls", "nodeAddress"] as const;
const names = ["url", "nodes", "client", "prefix", ...besideUrl];
const prefixPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * Reads the options that every engine on a Redis takes; `more` are the names of those that this one takes besides. Fails with
 * `invalid-argument`, without showing what may hold a password.
 */
export function readRedisOptions(options: RedisOptions, more: readonly string[] = []): RedisSettings {
  if (typeof options !== "object" || options === null) {
    // A URL alone is what others take; it may hold a password.
    const given = typeof options === "string" ? "options is a string" : `options is ${quote(options)}`;
    throw invalidArgument(
      "options",
      options === undefined ? "options are missing" : given,
      'an object such as { url: "redis://127.0.0.1:6379" }',
    );
  }
  checkOptionNames(options, new Set([...names, ...more]), "options");
  const { prefix = "punctual" } = options;
  if (typeof prefix !== "string" || !prefixPattern.test(prefix)) {
    throw invalidValue("prefix", prefix, '1 to 64 letters, digits, ".", "_" or "-", the first a letter or digit');
  }
  return { connector: readConnector(options), prefix };
}

function readConnector(options: RedisOptions): Connector {
  const given = (["url", "nodes", "client"] as const).filter((name) => options[name] !== undefined);
  if (given.length > 1)
    throw invalidArgument(given.at(-1) ?? "url", `both ${given.join(" and ")} are given`, "one of them");
  if (options.client !== undefined) return readClient(options);
  const { url, nodes, library, username, password, tls, nodeAddress } = options;
  if (nodes === undefined && typeof url !== "string") {
    const problem = url === undefined ? "url is missing" : `url is ${quote(url)}`;
    throw invalidArgument("url", problem, `${acceptedUrls}; or nodes of a Cluster, or a client instead`);
  }
  if (library !== undefined && !clientLibraries.includes(library)) {
    throw invalidValue("library", library, clientLibraries.map((name) => `"${name}"`).join(" or "));
  }
  if (username !== undefined && typeof username !== "string")
    throw invalidArgument("username", "username is no string", "text");
  if (password !== undefined && typeof password !== "string")
    throw invalidArgument("password", "password is no string", "text");
  if (tls !== undefined && (typeof tls !== "object" || tls === null)) {
    throw invalidArgument("tls", "tls is no object", "an object with options of TLS, such as { ca }");
  }
  if (tls !== undefined && !/^rediss(\+sentinel)?:/i.test(String(nodes === undefined ? url : nodes[0]))) {
    throw invalidArgument("tls", "tls is given, and the URL does not ask for TLS", "a URL that starts with rediss://");
  }
  const connectTo = (address: RedisAddress) => connectorAt(address, tls, library);
  if (url === undefined) return clusterOf(nodes, { username, password, connectTo, nodeAddress });
  if (isSentinelUrl(url)) return sentinelsOf(url, { username, password, connectTo, nodeAddress });
  if (nodeAddress !== undefined)
    throw invalidArgument(
      "nodeAddress",
      "nodeAddress is given beside the URL of a single Redis",
      "it with sentinels or nodes",
    );
  return connectTo(addressOf({ url, username, password }));
}

function readClient(options: RedisOptions): Connector {
  const { client } = options;
  if (typeof client !== "object" || client === null)
    throw invalidValue("client", client, "a client of node-redis or ioredis");
  for (const name of besideUrl) {
    if (options[name] === undefined) continue;
    throw invalidArgument(name, `${name} is given beside client`, `${name} beside url only: the client has its own`);
  }
  return connectorOf(client);
}
