import { invalidArgument } from "../invalid-argument.js";
import { parseRedisUrl, type RedisAddress } from "./redis-url.js";

/** The form of a URL that names sentinels, for error texts. */
export const acceptedSentinelUrl =
  "redis+sentinel://[user:password@]host[:port][,host[:port]…]/<name of the primary>[/<database>][?sentinelUsername=…&sentinelPassword=…]";

/** A primary as its sentinels know it. */
export interface SentinelAddress {
  /** The sentinels, with what to log in with there. */
  readonly sentinels: readonly RedisAddress[];
  /** What they call the primary. */
  readonly name: string;
  /** How to log in at the primary, and which database to use; its host and port are what the sentinels say. */
  readonly primary: Pick<RedisAddress, "username" | "password" | "database"> & { readonly tls: boolean };
}

/** Whether a URL is meant to name sentinels. */
export const isSentinelUrl = (url: string): boolean => /^rediss?\+sentinel:/i.test(url);

/** Reads such a URL. Fails with `invalid-argument` without showing the URL, which may hold a password. */
export function parseSentinelUrl(url: string): SentinelAddress {
  const parts = /^(rediss?)\+sentinel:\/\/([^/?#]*@)?([^/?#@]+)\/([^/?#]+)(?:\/(\d{1,6}))?\/?(?:\?([^#]*))?$/i.exec(
    url,
  );
  if (parts === null) throw refused("cannot be understood");
  const [, scheme = "", login = "", hosts = "", name = "", database = "0", search] = parts;
  const query = new URLSearchParams(search);
  for (const key of query.keys()) {
    if (key !== "sentinelUsername" && key !== "sentinelPassword") throw refused(`has the unknown parameter "${key}"`);
  }
  const sentinelUsername = query.get("sentinelUsername") ?? undefined;
  const sentinelPassword = query.get("sentinelPassword") ?? undefined;
  const protocol = scheme.toLowerCase();
  const { username, password } = parseRedisUrl(`${protocol}://${login}host`);
  return {
    sentinels: hosts.split(",").map((host) => {
      // Sentinels have a port of their own where none is named.
      const sentinel = parseRedisUrl(`${protocol}://${/:\d+$/.test(host) ? host : `${host}:26379`}`);
      return { ...sentinel, username: sentinelUsername, password: sentinelPassword };
    }),
    name: decoded(name),
    primary: { username, password, database: Number(database), tls: protocol === "rediss" },
  };
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    throw refused("holds a % that starts no escape; write it as %25");
  }
}

const refused = (problem: string) => invalidArgument("url", `The Redis URL ${problem}`, acceptedSentinelUrl);
