import { createClient } from "@redis/client";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis-5";
import { createClient as createClient5 } from "redis-client-5";
import { connectorOf } from "../../src/clients/given-client.js";
import { ioredisAt } from "../../src/clients/ioredis.js";
import { nodeRedisAt } from "../../src/clients/node-redis.js";
import type { Connector } from "../../src/clients/port.js";
import type { RedisAddress } from "../../src/clients/redis-url.js";

/** A client library that the tests of the port run on. */
export interface ClientToTest {
  readonly name: string;
  readonly connectorAt: (address: RedisAddress) => Connector;
  /** Whether commands and what is published come over one socket. */
  readonly oneSocket: boolean;
}

/** Every library and version that is supported, connecting by itself and as a client does that was handed in. */
export const clientsToTest: readonly ClientToTest[] = [
  { name: "node-redis 6", connectorAt: (address) => nodeRedisAt(address), oneSocket: true },
  {
    name: "node-redis 5",
    connectorAt: (address) => nodeRedisAt(address, undefined, () => import("redis-client-5")),
    oneSocket: true,
  },
  { name: "ioredis 6", connectorAt: (address) => ioredisAt(address), oneSocket: true },
  {
    name: "ioredis 5",
    connectorAt: (address) => ioredisAt(address, undefined, () => import("ioredis-5")),
    oneSocket: false,
  },
  {
    name: "node-redis 6, handed in",
    connectorAt: (address) => connectorOf(createClient({ ...nodeRedisOptions(address), maintNotifications: "auto" })),
    oneSocket: true,
  },
  {
    name: "node-redis 5, handed in",
    connectorAt: (address) => connectorOf(createClient5(nodeRedisOptions(address))),
    oneSocket: true,
  },
  {
    name: "ioredis 6, handed in",
    connectorAt: (address) => connectorOf(new Redis({ ...ioredisOptions(address), replyMapping: "resp3" })),
    oneSocket: true,
  },
  {
    name: "ioredis 6 with RESP2, handed in",
    connectorAt: (address) => connectorOf(new Redis({ ...ioredisOptions(address), protocol: 2 })),
    oneSocket: false,
  },
  {
    name: "ioredis 5, handed in",
    connectorAt: (address) => connectorOf(new Redis5(ioredisOptions(address))),
    oneSocket: false,
  },
];

/** With everything that an engine must not have. */
function nodeRedisOptions({ endpoint, username, password, database }: RedisAddress) {
  const where = "path" in endpoint ? { path: endpoint.path } : { host: endpoint.host, port: endpoint.port };
  return {
    socket: { ...where, connectTimeout: 1, socketTimeout: 30, reconnectStrategy: () => 1 },
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    database,
    name: "app",
    RESP: 3,
    commandsQueueMaxLength: 1,
    disableOfflineQueue: false,
    pingInterval: 5,
    emitInvalidate: true,
    commandOptions: { timeout: 1, asap: true, typeMapping: { [":".charCodeAt(0)]: String } },
  } as const;
}

/** The same. */
function ioredisOptions({ endpoint, username, password, database }: RedisAddress) {
  return {
    ...("path" in endpoint ? { path: endpoint.path } : { host: endpoint.host, port: endpoint.port }),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    db: database,
    connectionName: "app",
    lazyConnect: true,
    connectTimeout: 1,
    commandTimeout: 1,
    socketTimeout: 30,
    blockingTimeout: 1,
    retryStrategy: () => 1,
    reconnectOnError: () => 2 as const,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: true,
    enableReadyCheck: true,
    enableAutoPipelining: true,
    autoResendUnfulfilledCommands: true,
    showFriendlyErrorStack: true,
    stringNumbers: true,
    readOnly: true,
  } as const;
}
