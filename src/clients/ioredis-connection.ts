import { ConnectionLife } from "./connection-life.js";
import { closeAtOnce, type IORedisClient, speaksResp3 } from "./ioredis-client.js";
import type { CommandArgument, Connection, Reply } from "./port.js";
import { asReply } from "./server-reply.js";

/** How often a connection that does nothing but listen is asked whether it still lives, ms. */
const proofInterval = 10_000;

interface Heard {
  readonly onMessage: (message: Buffer) => void;
  readonly sharded: boolean;
}

/**
 * A connection of ioredis. With RESP3 it is one socket. With RESP2, which is all that version 5 speaks, a socket that listens
 * takes no commands, so there is a second one from the first subscription on; when one is lost, both are.
 */
export class IORedisConnection implements Connection {
  readonly #client: IORedisClient;
  readonly #open: () => Promise<IORedisClient>;
  readonly #life = new ConnectionLife(() => this.#close());
  readonly #channels = new Map<string, Heard>();
  #listener: IORedisClient | undefined;
  #opening: Promise<IORedisClient> | undefined;
  #proof: NodeJS.Timeout | undefined;
  #corked = false;

  /** @param open Makes another connection to the same server. */
  constructor(client: IORedisClient, open: () => Promise<IORedisClient>) {
    this.#client = client;
    this.#open = open;
    this.#supervise(client);
    if (speaksResp3(client)) this.#listenOn(client);
  }

  async send(command: readonly CommandArgument[]): Promise<Reply> {
    const [name = "", ...args] = command;
    // In capitals: the library changes arguments and replies of commands by functions that a program can set for all its
    // clients, and knows them by names in small letters.
    const call = () => {
      this.#writeTogether(this.#client);
      return this.#client.callBuffer(String(name).toUpperCase(), args);
    };
    return asReply(await this.#attempt(this.#client, call));
  }

  async subscribe(channel: string, onMessage: (message: Buffer) => void, sharded = false): Promise<void> {
    this.#life.refuseUnless(isWritable(this.#client));
    const listener = this.#listener ?? (await this.#openListener());
    await this.#attempt(listener, () => {
      this.#channels.set(channel, { onMessage, sharded });
      return sharded ? this.#subscribeSharded(listener, channel) : listener.subscribe(channel);
    });
  }

  async unsubscribe(channel: string): Promise<void> {
    const listener = this.#listener;
    const heard = this.#channels.get(channel);
    this.#life.refuseUnless(isWritable(this.#client));
    if (listener === undefined || heard === undefined) return;
    this.#channels.delete(channel);
    await this.#attempt(listener, () =>
      heard.sharded ? listener.sunsubscribe(channel) : listener.unsubscribe(channel),
    );
  }

  onLost(listener: (cause: Error) => void): void {
    this.#life.onLost(listener);
  }

  destroy(): void {
    this.#life.destroy();
  }

  #supervise(client: IORedisClient): void {
    client.on("error", (error) => this.#life.lose(error));
    client.on("moved", () => this.#life.lose(new Error("the slot of a channel was moved to another node")));
    const closed = () => this.#life.lose(new Error("the server ended the connection"));
    // Before the library hears of it and rejects the commands that wait, so whoever hears of them knows that all is lost.
    client.stream?.prependListener("close", closed);
    if (client.stream === undefined || client.stream.destroyed) closed();
  }

  #listenOn(client: IORedisClient): void {
    this.#listener = client;
    const hear = (channel: Buffer, message: Buffer) => this.#channels.get(channel.toString())?.onMessage(message);
    client.on("messageBuffer", hear);
    client.on("smessageBuffer", hear);
  }

  /** Version 5 tells a slot that has moved by an event alone, and then says nothing more of the subscription. */
  async #subscribeSharded(listener: IORedisClient, channel: string): Promise<void> {
    let confirmed = () => {};
    const lost = new Promise<never>((_, reject) => {
      confirmed = this.#life.onLost(reject);
    });
    try {
      await Promise.race([listener.ssubscribe(channel), lost]);
    } finally {
      confirmed();
    }
  }

  #openListener(): Promise<IORedisClient> {
    return (this.#opening ??= this.#open().then(
      (client) => {
        if (this.#life.destroyed) {
          closeAtOnce(client);
        } else {
          this.#supervise(client);
          this.#listenOn(client);
          this.#proof = setTimeout(() => void this.#prove(client), proofInterval);
        }
        return client;
      },
      (cause: unknown) => {
        this.#life.lose(cause instanceof Error ? cause : new Error(String(cause)));
        throw cause;
      },
    ));
  }

  /** Nothing is sent on the second socket, so nothing else would tell that it has gone dead. */
  async #prove(client: IORedisClient): Promise<void> {
    this.#proof = setTimeout(() => this.#life.lose(new Error("the connection that listens is dead")), proofInterval);
    try {
      await client.callBuffer("ping", []);
    } catch {
      // A refusal is an answer, and a lost socket is told by itself.
    }
    clearTimeout(this.#proof);
    if (!this.#life.destroyed) this.#proof = setTimeout(() => void this.#prove(client), proofInterval);
  }

  /** The library writes each command by itself; those of one tick are to leave in one packet. */
  #writeTogether({ stream }: IORedisClient): void {
    if (this.#corked || stream === undefined) return;
    this.#corked = true;
    stream.cork();
    process.nextTick(() => {
      this.#corked = false;
      stream.uncork();
    });
  }

  #close(): void {
    clearTimeout(this.#proof);
    closeAtOnce(this.#client);
    if (this.#listener !== undefined && this.#listener !== this.#client) closeAtOnce(this.#listener);
  }

  async #attempt<T>(client: IORedisClient, run: () => Promise<T>): Promise<T> {
    this.#life.refuseUnless(isWritable(client));
    try {
      return await run();
    } catch (error) {
      throw this.#life.failure(error);
    }
  }
}

const isWritable = ({ status, stream }: IORedisClient): boolean => status === "ready" && stream?.writable === true;
