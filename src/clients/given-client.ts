import { invalidArgument } from "../invalid-argument.js";
import { quote } from "../quote.js";
import * as ioredis from "./ioredis.js";
import type { IORedisClient } from "./ioredis-client.js";
import * as nodeRedis from "./node-redis.js";
import type { NodeRedisClient } from "./node-redis.js";
import type { Connector } from "./port.js";
import type { RedisAddress } from "./redis-url.js";

/**
 * A client that a program has already: what `createClient()` of `@redis/client` or `redis` gives, or a `new Redis()` of
 * `ioredis`, each in version 5 or 6.
 */
export interface GivenClient {
  readonly duplicate: (...overrides: never[]) => unknown;
}

interface GivenNodeRedis {
  readonly options:
    | {
        readonly socket?: {
          readonly path?: string;
          readonly host?: string;
          readonly port?: number;
          readonly tls?: unknown;
        };
        readonly database?: number;
        readonly keyPrefix?: unknown;
      }
    | undefined;
  duplicate(overrides: object): NodeRedisClient;
}

interface GivenIORedis {
  readonly options: {
    readonly path?: string;
    readonly host?: string;
    readonly port?: number;
    readonly tls?: unknown;
    readonly db?: number;
    readonly keyPrefix?: unknown;
    readonly sentinels?: unknown;
  };
  duplicate(overrides: object): IORedisClient;
}

/**
 * Connects where a client of the user does, with its library and its options, in connections of our own: the client itself is
 * neither used nor closed. Address, login, TLS, database and name are taken over, all that decides on its own what is sent
 * again or how a reply looks is not. Fails with `invalid-argument` where that would not do what the options say.
 */
export function connectorOf(client: GivenClient): Connector {
  refuseSeveralServers(client);
  if (isIORedis(client)) {
    refuseKeyPrefix(client.options.keyPrefix);
    const { path, host, port, tls, db } = client.options;
    const address = addressOf({ path, host, port, tls }, db);
    return {
      target: address.target,
      connect: (connectTimeout) =>
        ioredis.connectIORedis(() => client.duplicate(ioredis.clientOptions(connectTimeout)), address, connectTimeout),
    };
  }
  if (isNodeRedis(client)) {
    refuseKeyPrefix(client.options?.keyPrefix);
    const address = addressOf(client.options?.socket ?? {}, client.options?.database);
    return {
      target: address.target,
      connect: (connectTimeout) =>
        nodeRedis.connectNodeRedis(
          client.duplicate(nodeRedis.clientOptions(client.options?.socket ?? {}, connectTimeout)),
          address,
          connectTimeout,
        ),
    };
  }
  throw invalidArgument(
    "client",
    "client is of no kind that is known here",
    "what createClient() of @redis/client or redis gives, or a new Redis() of ioredis, each in version 5 or 6",
  );
}

/** Which servers it was made for is private to a Cluster of ioredis and a Sentinel of node-redis, so all are refused alike. */
function refuseSeveralServers(client: object): void {
  if (isCluster(client))
    throw invalidArgument(
      "client",
      "client is of a Redis Cluster, and its nodes cannot be read from it",
      'a client of one Redis, or in its place nodes: redisEngine({ nodes: ["redis://host:port", …] })',
    );
  if (isNodeRedisSentinel(client) || (isIORedis(client) && client.options.sentinels))
    throw invalidArgument(
      "client",
      "client finds its Redis by Sentinel, which the engine does itself",
      'a client of one Redis, or in its place a URL of the sentinels: redisEngine({ url: "redis+sentinel://host:port,host:port/<name of the primary>" })',
    );
  if (isNodeRedisPool(client))
    throw invalidArgument(
      "client",
      "client is a pool, and the engine has connections of its own",
      "a client of createClient(), with the options of the pool's clients",
    );
}

function refuseKeyPrefix(keyPrefix: unknown): void {
  const text = Buffer.isBuffer(keyPrefix) ? keyPrefix.toString() : keyPrefix;
  if (text === undefined || text === null || text === "") return;
  throw invalidArgument(
    "client",
    `client puts ${quote(text)} before every key by its option keyPrefix, and the engine names all keys itself`,
    "a client without keyPrefix; the engine's option prefix says how its keys begin",
  );
}

/** Where a client connects to, for error texts. */
function addressOf(
  socket: { path?: string | undefined; host?: string | undefined; port?: number | undefined; tls?: unknown },
  database = 0,
): RedisAddress {
  if (socket.path) return { target: `unix://${socket.path}`, endpoint: { path: socket.path }, database };
  const { host = "localhost", port = 6379 } = socket;
  const tls = Boolean(socket.tls);
  const target = `${tls ? "rediss" : "redis"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
  return { target, endpoint: { host, port, tls }, database };
}

const hasMethods = (client: object, ...names: string[]): boolean =>
  names.every((name) => typeof Reflect.get(client, name) === "function");

/** Versions before 5 have no `withTypeMapping`. */
function isNodeRedis(client: object): client is GivenNodeRedis {
  return (
    hasMethods(client, "connect", "sendCommand", "sSubscribe", "withTypeMapping", "duplicate") && "isReady" in client
  );
}

/** Versions before 5 have no `mode`. */
function isIORedis(client: object): client is GivenIORedis {
  const options: unknown = Reflect.get(client, "options");
  const hasOptions = typeof options === "object" && options !== null;
  return hasOptions && hasMethods(client, "connect", "callBuffer", "ssubscribe", "duplicate") && "mode" in client;
}

const isCluster = (client: object): boolean =>
  "nodeByAddress" in client || ("isCluster" in client && client.isCluster === true);

const isNodeRedisSentinel = (client: object): boolean => "getSentinelNode" in client;

const isNodeRedisPool = (client: object): boolean => "totalClients" in client;
