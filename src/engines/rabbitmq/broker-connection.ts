import type * as AmqpLibrary from "amqplib";
import { PunctualError } from "../../errors.js";
import { explained } from "./broker-failures.js";
import type { BrokerAddress } from "./engine-options.js";

type Library = Pick<typeof AmqpLibrary, "connect">;
export type Channel = AmqpLibrary.Channel;
export type ConfirmChannel = AmqpLibrary.ConfirmChannel;
/** A message as the broker hands it out. */
export type Message = AmqpLibrary.Message;

/** How long making a connection may take, ms. */
const connectTimeout = 2_000;
/** How long a broker may take to note what was acknowledged, ms. */
const timeToSettle = 100;
/** Two of these without a sign of life, in either direction, and the connection is given up, s. */
const heartbeat = 5;

/** Loads the client library; fails with `misconfigured` when it is not installed. */
// oxlint-disable-next-line no-restricted-imports -- this is the one place that loads it, when first connecting
export async function loadLibrary(load: () => Promise<Library> = () => import("amqplib")): Promise<Library> {
  try {
    return await load();
  } catch (cause) {
    throw new PunctualError(
      "misconfigured",
      "The RabbitMQ engine needs the package amqplib, version 2: run `npm install amqplib`.",
      { cause },
    );
  }
}

/** Connects, once. Fails with a `PunctualError` that says what to do. */
export async function connectTo(address: BrokerAddress): Promise<BrokerConnection> {
  const library = await loadLibrary();
  const { protocol, hostname, port, vhost, username, password, tls } = address;
  const where = { protocol, hostname, port, vhost, username, password, heartbeat };
  try {
    const model = await library.connect(where, { ...tls, noDelay: true, timeout: connectTimeout });
    return new BrokerConnection(model, address.target);
  } catch (error) {
    throw explained(error, address.target);
  }
}

/**
 * One connection to a broker. It is never mended: whatever goes wrong on it or on one of its channels ends it, and the next
 * one begins anew, because after a failure nobody can tell which declarations, consumers and deliveries are still there.
 */
export class BrokerConnection {
  /** Of the broker, such as `[3, 10]`. */
  readonly version: readonly [major: number, minor: number];
  readonly #model: AmqpLibrary.ChannelModel;
  readonly #target: string;
  readonly #lostListeners: ((cause: PunctualError) => void)[] = [];
  readonly #done = new Map<string, Promise<unknown>>();
  readonly #idle: Channel[] = [];
  #settling: NodeJS.Timeout | undefined;
  #lostBy: PunctualError | undefined;
  #ended = false;
  #blocked: string | undefined;

  constructor(model: AmqpLibrary.ChannelModel, target: string) {
    this.#model = model;
    this.#target = target;
    const [major = 0, minor = 0] = model.connection.serverProperties.version.split(".").map(Number);
    this.version = [major, minor];
    model.on("error", (error: Error) => this.drop(error));
    model.on("close", (error?: Error) => this.drop(error ?? new Error("the broker ended the connection")));
    model.on("blocked", (reason: string) => (this.#blocked = reason));
    model.on("unblocked", () => (this.#blocked = undefined));
  }

  get alive(): boolean {
    return this.#lostBy === undefined && !this.#ended;
  }

  /** Why the broker takes no messages, if it takes none: an alarm for memory or disk. */
  get blocked(): string | undefined {
    return this.#blocked;
  }

  /** A channel. If it fails, all of the connection is lost. */
  async channel(): Promise<Channel> {
    return this.#watched(await this.#open(() => this.#model.createChannel()));
  }

  /**
   * A channel for a while; give it back with `giveBack`. It is not closed then but used again: a broker that is busy with the
   * acknowledgements of a quorum queue forgets the rest of them when their channel ends.
   */
  async borrowChannel(): Promise<Channel> {
    return this.#idle.pop() ?? (await this.channel());
  }

  /** Nothing that came over it may be open. */
  giveBack(channel: Channel): void {
    this.#idle.push(channel);
  }

  /** Something was acknowledged: the broker needs a while to note it, and says nothing when it has. */
  noteSettled(): void {
    this.#settling ??= setTimeout(() => (this.#settling = undefined), timeToSettle).unref();
  }

  /** A channel on which the broker confirms each message that it has taken. */
  async confirmChannel(): Promise<ConfirmChannel> {
    return this.#watched(await this.#open(() => this.#model.createConfirmChannel()));
  }

  /** Whether `question` is answered without the broker ending the channel for it, as it does when it names what is not there. */
  async ask(question: (channel: Channel) => Promise<unknown>): Promise<boolean> {
    const channel = await this.#open(() => this.#model.createChannel());
    channel.on("error", () => {});
    try {
      await question(channel);
      await this.endChannel(channel);
      return true;
    } catch (error) {
      if (this.alive) return false;
      throw explained(this.#lostBy ?? error, this.#target);
    }
  }

  /** Ends a channel on which nothing is open any more. */
  async endChannel(channel: Channel): Promise<void> {
    // The library never answers where the connection is lost before the broker has answered; all it does is to tell this.
    const over = new Promise<void>((resolve) => channel.once("close", () => resolve()));
    await Promise.race([channel.close(), over]);
    if (this.#lostBy !== undefined) throw this.#lostBy;
  }

  /** Does what needs doing once on a connection; whoever asks for it later, or meanwhile, gets the same. */
  once<T>(what: string, work: () => Promise<T>): Promise<T> {
    const present = this.#done.get(what) as Promise<T> | undefined;
    if (present !== undefined) return present;
    const begun = work();
    this.#done.set(what, begun);
    begun.catch(() => this.#done.delete(what));
    return begun;
  }

  /** Forgets what `once` did, for somebody may have undone it. */
  forget(): void {
    this.#done.clear();
  }

  /** Calls `listener` when the connection is lost; at once if it is. */
  onLost(listener: (cause: PunctualError) => void): void {
    if (this.#lostBy !== undefined) listener(this.#lostBy);
    else this.#lostListeners.push(listener);
  }

  /** Gives the connection up. */
  drop(cause: unknown): void {
    if (!this.alive) return;
    this.#lostBy = explained(cause, this.#target);
    for (const listener of this.#lostListeners) listener(this.#lostBy);
    void this.#close();
  }

  /** Ends it without telling anybody. */
  async end(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#settling !== undefined) await new Promise((resolve) => setTimeout(resolve, timeToSettle));
    await this.#close();
  }

  /** What a failed call on this connection means. */
  explained(error: unknown): PunctualError {
    return this.#lostBy ?? explained(error, this.#target);
  }

  async #open<T>(make: () => Promise<T>): Promise<T> {
    try {
      return await make();
    } catch (error) {
      this.drop(error);
      throw this.explained(error);
    }
  }

  #watched<T extends Channel>(channel: T): T {
    channel.on("error", (error: Error) => this.drop(error));
    return channel;
  }

  /** In good order if the broker answers; else the socket is cut, for a broker that hangs would hold this process. */
  async #close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<void>((resolve) => (timer = setTimeout(resolve, 500)));
    await Promise.race([this.#model.close().catch(() => {}), tooLong]);
    clearTimeout(timer);
    // The library has no call that cuts a connection. It takes an error of the socket for the end of all that it waits for.
    const { stream } = this.#model.connection as { stream?: { destroy?: (error: Error) => void } };
    stream?.destroy?.(new Error("the connection was given up"));
  }
}
