import type { ConnectionOptions } from "node:tls";
import type * as RedisClientLibrary from "@redis/client";
import { PunctualError } from "../errors.js";
import { connectProblem, silenceProblem } from "./connect-advice.js";
import { type CommandArgument, CommandFailure, type Connection, type Connector, type Reply } from "./port.js";
import { parseRedisUrl, type RedisAddress } from "./redis-url.js";

type ClientLibrary = typeof RedisClientLibrary;
type Client = Awaited<ReturnType<typeof newClient>>;

/** Where to connect to with node-redis. */
export interface NodeRedisOptions {
  /** `redis://[user:password@]host[:port][/database]`, `rediss://…` for TLS, or `unix://[user:password@]/path[?db=database]`. */
  readonly url: string;
  /** Instead of the one in the URL. */
  readonly username?: string | undefined;
  /** Instead of the one in the URL. */
  readonly password?: string | undefined;
  /** Options of TLS, such as `ca`; only with `rediss://`. */
  readonly tls?: ConnectionOptions | undefined;
}

/**
 * Connects with `@redis/client`, which is loaded at the first connection: fails with a `PunctualError` `misconfigured` that
 * says what to install when it is not there.
 *
 * The library is used as a codec and a socket: reconnecting, the offline queue and its time-outs are off, because it would
 * decide on its own what is sent again.
 */
export function nodeRedis(options: NodeRedisOptions): Connector {
  return nodeRedisFrom(undefined, options);
}

/** @internal The same with the library given, for tests. */
export function nodeRedisFrom(load: (() => Promise<ClientLibrary>) | undefined, options: NodeRedisOptions): Connector {
  const parsed = parseRedisUrl(options.url);
  const address: RedisAddress = {
    ...parsed,
    username: options.username ?? parsed.username,
    password: options.password ?? parsed.password,
  };
  return nodeRedisAt(address, options.tls, load);
}

/** The same for an address that was found out, such as that of a primary. */
export function nodeRedisAt(
  address: RedisAddress,
  tls?: ConnectionOptions,
  // oxlint-disable-next-line no-restricted-imports -- this is the one place that loads it, when first connecting
  load: () => Promise<ClientLibrary> = () => import("@redis/client"),
): Connector {
  return {
    target: address.target,
    async connect(connectTimeout) {
      const library = await loaded(load);
      return connectWith(library, newClient(library, address, tls, connectTimeout), address, connectTimeout);
    },
  };
}

async function loaded(load: () => Promise<ClientLibrary>): Promise<ClientLibrary> {
  try {
    return await load();
  } catch (cause) {
    throw new PunctualError(
      "misconfigured",
      "The Redis engine needs the package @redis/client, version 6: run `npm install @redis/client`.",
      { cause },
    );
  }
}

function newClient(
  { createClient, RESP_TYPES }: ClientLibrary,
  { endpoint, username, password, database }: RedisAddress,
  tls: ConnectionOptions | undefined,
  connectTimeout: number,
) {
  const how = { connectTimeout, reconnectStrategy: false } as const;
  return createClient({
    // With RESP3 what is published comes over the connection that carries the commands: while one lives, so does the other.
    RESP: 3,
    socket:
      "path" in endpoint
        ? { ...how, path: endpoint.path }
        : endpoint.tls
          ? { ...tls, ...how, host: endpoint.host, port: endpoint.port, tls: true }
          : { ...how, host: endpoint.host, port: endpoint.port },
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    database,
    disableOfflineQueue: true,
    // Redis below 7.2 does not know CLIENT SETINFO, and a user with few rights may not run it.
    disableClientInfo: true,
    maintNotifications: "disabled",
    commandOptions: {
      typeMapping: {
        [RESP_TYPES.BLOB_STRING]: Buffer,
        [RESP_TYPES.SIMPLE_STRING]: Buffer,
        [RESP_TYPES.VERBATIM_STRING]: Buffer,
      },
    },
  });
}

async function connectWith(
  library: ClientLibrary,
  client: Client,
  address: RedisAddress,
  connectTimeout: number,
): Promise<Connection> {
  const connection = new NodeRedisConnection(library, client);
  let timer: NodeJS.Timeout | undefined;
  try {
    // The library's own time-out ends with the TCP connection; a server that then says nothing would hold us for ever.
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(
        () => reject(new CommandFailure("not-sent", silenceProblem(address, connectTimeout))),
        connectTimeout,
      );
      client.connect().then(() => resolve(), reject);
    });
    return connection;
  } catch (error) {
    connection.destroy();
    if (error instanceof CommandFailure) throw error;
    if (error instanceof library.ErrorReply) throw refusal(error);
    const problem = error instanceof Error ? connectProblem(error, address) : String(error);
    throw new CommandFailure("not-sent", problem, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

class NodeRedisConnection implements Connection {
  readonly #library: ClientLibrary;
  readonly #client: Client;
  readonly #lostListeners: ((cause: Error) => void)[] = [];
  readonly #channels = new Map<string, { onMessage: (message: Buffer) => void; sharded: boolean }>();
  #lostBy: Error | undefined;
  #destroyed = false;

  constructor(library: ClientLibrary, client: Client) {
    this.#library = library;
    this.#client = client;
    // Comes before the commands that wait are rejected, so whoever hears of them knows already that all is lost. An error
    // of the decoder comes this way, too, and leaves the socket open: what follows can no longer be told apart.
    client.on("error", (error: Error) => this.#lose(error));
    client.on("sharded-channel-moved", () => this.#lose(new Error("the slot of a channel was moved to another node")));
  }

  async send(command: readonly CommandArgument[]): Promise<Reply> {
    this.#refuseWhenDestroyed();
    let reply: unknown;
    try {
      reply = await this.#client.sendCommand(command);
    } catch (error) {
      throw this.#failure(error);
    }
    return asReply(reply);
  }

  async subscribe(channel: string, onMessage: (message: Buffer) => void, sharded = false): Promise<void> {
    this.#refuseWhenDestroyed();
    try {
      this.#channels.set(channel, { onMessage, sharded });
      await (sharded
        ? this.#client.sSubscribe(channel, onMessage, true)
        : this.#client.subscribe(channel, onMessage, true));
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async unsubscribe(channel: string): Promise<void> {
    this.#refuseWhenDestroyed();
    // Without its listener the library does not note that a channel is being left, and a subscribe that comes before the
    // confirmation would send nothing and be lost.
    const heard = this.#channels.get(channel);
    if (heard === undefined) return;
    this.#channels.delete(channel);
    try {
      await (heard.sharded
        ? this.#client.sUnsubscribe(channel, heard.onMessage, true)
        : this.#client.unsubscribe(channel, heard.onMessage, true));
    } catch (error) {
      throw this.#failure(error);
    }
  }

  onLost(listener: (cause: Error) => void): void {
    if (this.#lostBy !== undefined) listener(this.#lostBy);
    else this.#lostListeners.push(listener);
  }

  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#client.destroy();
  }

  #lose(cause: Error): void {
    if (this.#destroyed || this.#lostBy !== undefined) return;
    this.#lostBy = cause;
    for (const listener of this.#lostListeners) listener(cause);
    this.destroy();
  }

  /** A client that was destroyed still takes a subscription, and never says anything of it again. */
  #refuseWhenDestroyed(): void {
    if (!this.#destroyed) return;
    throw new CommandFailure("not-sent", this.#lostBy?.message ?? "the connection was destroyed", {
      cause: this.#lostBy,
    });
  }

  /**
   * The library rejects what it had not yet written and what it had written with the same error, so a socket that failed
   * leaves all of them unknown. It did not write a command only where it refused to take it.
   */
  #failure(error: unknown): CommandFailure {
    const { ErrorReply, ClientClosedError, ClientOfflineError } = this.#library;
    if (error instanceof ErrorReply) return refusal(error);
    if (error instanceof ClientClosedError || error instanceof ClientOfflineError) {
      return new CommandFailure("not-sent", textOf(this.#lostBy ?? error), { cause: this.#lostBy ?? error });
    }
    return new CommandFailure("unknown", textOf(this.#lostBy ?? error), { cause: this.#lostBy ?? error });
  }
}

function refusal(error: Error): CommandFailure {
  return new CommandFailure("refused", error.message, {
    code: /^[A-Z][A-Z0-9_]*(?= |$)/.exec(error.message)?.[0] ?? "ERR",
  });
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Checks that a reply is what the port promises. Maps and sets of RESP3 become arrays, as in RESP2. */
function asReply(reply: unknown): Reply {
  if (Buffer.isBuffer(reply) || typeof reply === "number" || reply === null) return reply;
  if (Array.isArray(reply)) return reply.map(asReply);
  if (reply instanceof Set) return Array.from(reply, asReply);
  if (typeof reply === "boolean") return reply ? 1 : 0;
  if (typeof reply === "object" && reply !== null)
    return Object.entries(reply).flatMap(([key, value]) => [Buffer.from(key), asReply(value)]);
  throw new CommandFailure("unknown", `a reply of a kind that is not expected: ${typeof reply}`);
}
