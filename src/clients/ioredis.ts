import type { ConnectionOptions } from "node:tls";
import { PunctualError } from "../errors.js";
import { connected, libraryTimeout } from "./connecting.js";
import { closeAtOnce, type IORedisClient, speaksResp3 } from "./ioredis-client.js";
import { IORedisConnection } from "./ioredis-connection.js";
import type { Connection, Connector } from "./port.js";
import type { RedisAddress } from "./redis-url.js";

/** The library. */
export interface IORedisLibrary {
  readonly Redis: new (options: object) => IORedisClient;
}

/**
 * Connects with `ioredis`, which is loaded at the first connection: fails with a `PunctualError` `misconfigured` that says
 * what to install when it is not there.
 */
export function ioredisAt(
  address: RedisAddress,
  tls?: ConnectionOptions,
  load: () => Promise<IORedisLibrary> = loadIORedis,
): Connector {
  return {
    target: address.target,
    load,
    async connect(connectTimeout) {
      const { Redis } = await load();
      const { endpoint, username, password, database: db } = address;
      const where =
        "path" in endpoint
          ? { path: endpoint.path }
          : { host: endpoint.host, port: endpoint.port, ...(endpoint.tls ? { tls: { ...tls } } : {}) };
      const make = () => new Redis({ ...where, username, password, db, ...clientOptions(connectTimeout) });
      return connectIORedis(make, address, connectTimeout);
    },
  };
}

/** The library as it is installed. */
export async function loadIORedis(): Promise<IORedisLibrary> {
  try {
    // oxlint-disable-next-line no-restricted-imports -- this is the one place that loads it, when first connecting
    return await import("ioredis");
  } catch (cause) {
    throw new PunctualError(
      "misconfigured",
      "The engine is to connect with ioredis, and that cannot be loaded: run `npm install ioredis`, or `npm install @redis/client` for the other client.",
      { cause },
    );
  }
}

/**
 * How a client of ours has to be, whatever the address; over the options of a client that was handed in. By default the
 * library connects again and sends again what had no reply, so that a script runs twice and nobody is told; told not to, it
 * lets those calls wait for ever. With neither reconnecting nor an offline queue all of them are rejected when the socket closes.
 */
export function clientOptions(connectTimeout: number) {
  return {
    lazyConnect: true,
    connectTimeout: libraryTimeout(connectTimeout),
    retryStrategy: () => null,
    reconnectOnError: null,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: null,
    commandTimeout: undefined,
    socketTimeout: undefined,
    blockingTimeout: undefined,
    // A server that is loading says so to each command; to ask with INFO takes a right.
    enableReadyCheck: false,
    // Redis below 7.2 does not know CLIENT SETINFO, and a user with few rights may not run it.
    disableClientInfo: true,
    enableAutoPipelining: false,
    noDelay: true,
    readOnly: false,
    monitor: false,
    stringNumbers: false,
    replyMapping: "legacy",
    showFriendlyErrorStack: false,
    himportFieldsets: undefined,
  };
}

/** Connects clients that have `clientOptions`: one, and with RESP2 another one when it is to hear a channel. */
export async function connectIORedis(
  make: () => IORedisClient,
  address: RedisAddress,
  connectTimeout: number,
): Promise<Connection> {
  const open = async (): Promise<IORedisClient> => {
    const client = make();
    try {
      await connected(address, connectTimeout, loggedIn(client));
      return client;
    } catch (error) {
      closeAtOnce(client);
      throw error;
    }
  };
  return new IORedisConnection(await open(), open);
}

function loggedIn(client: IORedisClient): Promise<void> {
  return new Promise((resolve, reject) => {
    // Why it failed is said here; what connect() rejects with says only that it did. A database that is refused is told
    // here alone, and the library goes on with another one.
    client.on("error", reject);
    const connecting = async () => {
      await client.connect();
      // With RESP2 the library does not wait for the answer to AUTH. Any answer to what comes behind it will do.
      if (!speaksResp3(client)) await client.callBuffer("PING", []).catch(() => {});
    };
    connecting().then(resolve, reject);
  });
}
