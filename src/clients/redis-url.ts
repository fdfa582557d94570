import { PunctualError } from "../errors.js";
import { invalidArgument } from "../invalid-argument.js";

/** Where a Redis is and how to log in, as a URL says it. */
export interface RedisAddress {
  /** The address without user and password, for error texts. */
  readonly target: string;
  readonly endpoint:
    | { readonly host: string; readonly port: number; readonly tls: boolean }
    | { readonly path: string };
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** The number of the database. Default 0. */
  readonly database: number;
}

/** The forms of a URL, for error texts. */
export const acceptedUrls =
  "redis://[user:password@]host[:port][/database], rediss://… for TLS, or unix://[user:password@]/path/to/socket[?db=database]";

/** What a URL says, and the user and password that stand beside it instead of in it. */
export function addressOf(options: {
  readonly url: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}): RedisAddress {
  const parsed = parseRedisUrl(options.url);
  return { ...parsed, username: options.username ?? parsed.username, password: options.password ?? parsed.password };
}

/** Reads a URL. Fails with `invalid-argument` without showing the URL, which may hold a password. */
export function parseRedisUrl(url: string): RedisAddress {
  const unix = /^unix:\/\/(?:([^:@/]*)(?::([^@/]*))?@)?(\/[^?#]+)(?:\?([^#]*))?$/.exec(url);
  if (unix) {
    const [, username, password, path = "", query] = unix;
    return {
      target: `unix://${path}`,
      endpoint: { path: decoded(path) },
      ...credentials(username, password),
      database: databaseNumber(new URLSearchParams(query).get("db")),
    };
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (
    parsed === undefined ||
    (parsed.protocol !== "redis:" && parsed.protocol !== "rediss:") ||
    parsed.hostname === ""
  ) {
    throw invalidArgument("url", "The Redis URL cannot be understood", acceptedUrls);
  }
  const port = parsed.port === "" ? 6379 : Number(parsed.port);
  return {
    target: `${parsed.protocol}//${parsed.hostname}:${port}`,
    endpoint: {
      // IPv6 addresses stand in brackets in a URL only.
      host: parsed.hostname.replace(/^\[(.*)\]$/, "$1"),
      port,
      tls: parsed.protocol === "rediss:",
    },
    ...credentials(parsed.username, parsed.password),
    database: databaseNumber(parsed.pathname.slice(1) || parsed.searchParams.get("db")),
  };
}

function credentials(username: string | undefined, password: string | undefined) {
  return {
    username: username ? decoded(username) : undefined,
    password: password ? decoded(password) : undefined,
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new PunctualError("invalid-argument", "The Redis URL holds a % that starts no escape; write it as %25.", {
      details: { argument: "url" },
    });
  }
}

function databaseNumber(text: string | null): number {
  if (!text) return 0;
  if (!/^\d{1,6}$/.test(text)) {
    throw invalidArgument("url", `The Redis URL names the database "${text}"`, "a number from 0");
  }
  return Number(text);
}
