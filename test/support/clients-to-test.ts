import { Redis } from "ioredis";
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

/** Every library and version that is supported. */
export const clientsToTest: readonly ClientToTest[] = [
  {
    name: "node-redis 6",
    connectorAt: (address) => nodeRedisAt(address),
    oneSocket: true,
  },
  {
    name: "node-redis 5",
    connectorAt: (address) => nodeRedisAt(address, undefined, () => import("redis-client-5")),
    oneSocket: true,
  },
  {
    name: "ioredis 6",
    connectorAt: (address) => ioredisAt(address),
    oneSocket: true,
  },
  {
    name: "ioredis 6 with RESP2",
    connectorAt: ({ endpoint, username, password, database: db }) =>
      connectorOf(
        new Redis({
          ...("path" in endpoint ? { path: endpoint.path } : { host: endpoint.host, port: endpoint.port }),
          username,
          password,
          db,
          protocol: 2,
          lazyConnect: true,
        }),
      ),
    oneSocket: false,
  },
  {
    name: "ioredis 5",
    connectorAt: (address) => ioredisAt(address, undefined, () => import("ioredis-5")),
    oneSocket: false,
  },
];
