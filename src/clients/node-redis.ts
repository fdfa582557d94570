import type { ConnectionOptions } from "node:tls";
import { PunctualError } from "../errors.js";
import { connected, libraryTimeout } from "./connecting.js";
import { ConnectionLife } from "./connection-life.js";
import type { CommandArgument, Connection, Connector, Reply } from "./port.js";
import { addressOf, type RedisAddress } from "./redis-url.js";
import { asReply } from "./server-reply.js";

/** The part of a client of node-redis that is used here; the same in versions 5 and 6. */
export interface NodeRedisClient {
  readonly isReady: boolean;
  connect(): Promise<unknown>;
  destroy(): void;
  sendCommand(command: readonly CommandArgument[]): Promise<unknown>;
  subscribe(channel: string, onMessage: (message: Buffer) => void, asBuffers: true): Promise<unknown>;
  unsubscribe(channel: string, onMessage: (message: Buffer) => void, asBuffers: true): Promise<unknown>;
  sSubscribe(channel: string, onMessage: (message: Buffer) => void, asBuffers: true): Promise<unknown>;
  sUnsubscribe(channel: string, onMessage: (message: Buffer) => void, asBuffers: true): Promise<unknown>;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "sharded-channel-moved", listener: () => void): unknown;
}

/** The library: `@redis/client`, or `redis`, which brings it along. */
export interface NodeRedisLibrary {
  createClient(): NodeRedisPattern;
}

/** A client that is never connected, from which others are made. */
interface NodeRedisPattern {
  duplicate(options: object): NodeRedisClient;
}

/**
 * `createClient` makes a class with all commands for each client whose options are not those of the last one: 100 connections to
 * a Cluster blocked this process for 4 s, and were given up and made anew meanwhile. Duplicates share the class of their
 * pattern: 0.1 s.
 */
const patterns = new WeakMap<NodeRedisLibrary, NodeRedisPattern>();

function patternOf(library: NodeRedisLibrary): NodeRedisPattern {
  const pattern = patterns.get(library) ?? library.createClient();
  patterns.set(library, pattern);
  return pattern;
}

/**
 * Connects with `@redis/client`, which is loaded at the first connection: fails with a `PunctualError` `misconfigured` that
 * says what to install when it is not there.
 *
 * The library is used as a codec and a socket: reconnecting, the offline queue and its time-outs are off, because it would
 * decide on its own what is sent again.
 */
export function nodeRedis(options: { url: string; username?: string; password?: string }): Connector {
  return nodeRedisAt(addressOf(options));
}

/** The same for an address that was found out, such as that of a primary. */
export function nodeRedisAt(
  address: RedisAddress,
  tls?: ConnectionOptions,
  load: () => Promise<NodeRedisLibrary> = loadNodeRedis,
): Connector {
  return {
    target: address.target,
    load,
    async connect(connectTimeout) {
      const library = await load();
      const { endpoint, username, password, database } = address;
      const socket =
        "path" in endpoint
          ? { path: endpoint.path }
          : endpoint.tls
            ? { ...tls, host: endpoint.host, port: endpoint.port, tls: true }
            : { host: endpoint.host, port: endpoint.port };
      const login = {
        ...(username === undefined ? {} : { username }),
        ...(password === undefined ? {} : { password }),
      };
      const client = patternOf(library).duplicate({ ...login, database, ...clientOptions(socket, connectTimeout) });
      return connectNodeRedis(client, address, connectTimeout);
    },
  };
}

/** The library as it is installed. */
export async function loadNodeRedis(): Promise<NodeRedisLibrary> {
  try {
    // oxlint-disable-next-line no-restricted-imports -- this is the one place that loads it, when first connecting
    return await import("@redis/client");
  } catch (cause) {
    throw new PunctualError(
      "misconfigured",
      "The engine is to connect with node-redis, and that cannot be loaded: run `npm install @redis/client`, or `npm install ioredis` for the other client.",
      { cause },
    );
  }
}

// What a string is in RESP: a bulk one, a simple one, and a verbatim one; the library knows them by these bytes.
const stringTypes = ["$", "+", "="].map((type) => type.charCodeAt(0));

/** How a client of ours has to be, whatever the address; over the options of a client that was handed in. */
export function clientOptions(socket: object, connectTimeout: number) {
  return {
    // With RESP3 what is published comes over the connection that carries the commands: while one lives, so does the other.
    RESP: 3,
    socket: {
      ...socket,
      connectTimeout: libraryTimeout(connectTimeout),
      socketTimeout: undefined,
      reconnectStrategy: false,
    },
    commandsQueueMaxLength: undefined,
    disableOfflineQueue: true,
    pingInterval: undefined,
    readonly: false,
    clientSideCache: undefined,
    emitInvalidate: false,
    // Redis below 7.2 does not know CLIENT SETINFO, and a user with few rights may not run it.
    disableClientInfo: true,
    maintNotifications: "disabled",
    commandOptions: {
      // The library would give up what it has not written for 5 s; the supervisor's watchdog is to say when.
      timeout: undefined,
      typeMapping: Object.fromEntries(stringTypes.map((type) => [type, Buffer])),
    },
  };
}

/** Connects a client that has `clientOptions`. */
export async function connectNodeRedis(
  client: NodeRedisClient,
  address: RedisAddress,
  connectTimeout: number,
): Promise<Connection> {
  const connection = new NodeRedisConnection(client);
  try {
    await connected(address, connectTimeout, client.connect());
    return connection;
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

class NodeRedisConnection implements Connection {
  readonly #client: NodeRedisClient;
  readonly #life: ConnectionLife;
  readonly #channels = new Map<string, { onMessage: (message: Buffer) => void; sharded: boolean }>();

  constructor(client: NodeRedisClient) {
    this.#client = client;
    this.#life = new ConnectionLife(() => {
      try {
        client.destroy();
      } catch {
        // Version 5 throws when the socket has gone already.
      }
    });
    // Comes before the commands that wait are rejected, so whoever hears of them knows already that all is lost. An error
    // of the decoder comes this way, too, and leaves the socket open: what follows can no longer be told apart.
    client.on("error", (error) => this.#life.lose(error));
    client.on("sharded-channel-moved", () =>
      this.#life.lose(new Error("the slot of a channel was moved to another node")),
    );
  }

  async send(command: readonly CommandArgument[]): Promise<Reply> {
    return asReply(await this.#attempt(() => this.#client.sendCommand(command)));
  }

  async subscribe(channel: string, onMessage: (message: Buffer) => void, sharded = false): Promise<void> {
    await this.#attempt(() => {
      this.#channels.set(channel, { onMessage, sharded });
      return sharded
        ? this.#client.sSubscribe(channel, onMessage, true)
        : this.#client.subscribe(channel, onMessage, true);
    });
  }

  async unsubscribe(channel: string): Promise<void> {
    await this.#attempt(async () => {
      // Without its listener the library does not note that a channel is being left, and a subscribe that comes before the
      // confirmation would send nothing and be lost.
      const heard = this.#channels.get(channel);
      if (heard === undefined) return;
      this.#channels.delete(channel);
      await (heard.sharded
        ? this.#client.sUnsubscribe(channel, heard.onMessage, true)
        : this.#client.unsubscribe(channel, heard.onMessage, true));
    });
  }

  onLost(listener: (cause: Error) => void): void {
    this.#life.onLost(listener);
  }

  destroy(): void {
    this.#life.destroy();
  }

  async #attempt<T>(run: () => Promise<T>): Promise<T> {
    this.#life.refuseUnless(this.#client.isReady);
    try {
      return await run();
    } catch (error) {
      throw this.#life.failure(error);
    }
  }
}
