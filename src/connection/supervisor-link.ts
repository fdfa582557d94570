import { CommandFailure, type Connector } from "../clients/port.js";
import { PunctualError } from "../errors.js";
import { isMisconfiguration, remedyFor } from "./replies-of-failure.js";
import type { ServerClock } from "./server-clock.js";
import { Session } from "./supervisor-session.js";

/** Whether the server can be reached; `closed`: never again. */
export type ConnectionState = "ready" | "recovering" | "closed";

export interface LinkOptions {
  readonly connector: Connector;
  readonly clock: ServerClock;
  readonly now: () => number;
  readonly random: () => number;
  /** How long the server may answer nothing while commands wait, ms. */
  readonly watchdog: number;
}

/** How long making a connection may take, ms. */
const connectTimeout = 1_000;
/** Pauses before the connection is made again, ms: the first, doubling up to the longest. */
const firstPause = 20;
const longestPause = 1_000;

interface Channel {
  readonly listeners: Set<(message: Buffer) => void>;
  /** Whether the server has confirmed it once. Until then a refusal concerns only whoever subscribes, and not the connection. */
  confirmed: boolean;
}

interface Waiter {
  isGone(): boolean;
  resolve(session: Session): void;
  reject(error: PunctualError): void;
}

/** Keeps a connection to one server: makes the first one when it is asked for, and another one whenever it is lost. */
export class Link {
  readonly #options: LinkOptions;
  readonly #channels = new Map<string, Channel>();
  readonly #waiters = new Set<Waiter>();
  readonly #stateListeners = new Set<(state: ConnectionState, cause?: PunctualError) => void>();
  #session: Session | undefined;
  #sessions = 0;
  #opening: Session | undefined;
  #keeping: Promise<void> | undefined;
  #state: ConnectionState | undefined;
  #failure: PunctualError | undefined;
  #closed = false;
  #onLost: () => void = () => {};
  /** Ends what the keeper waits for, for `close`. */
  #interrupt: () => void = () => {};

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** Why there is no connection, if there is none. */
  get lastFailure(): PunctualError | undefined {
    return this.#failure;
  }

  /** How many connections there were so far. */
  get sessions(): number {
    return this.#sessions;
  }

  /**
   * A connection on which commands can be sent. Fails with `closed`, and with `misconfigured` while that is so.
   * @param isGone Whether the caller has given up waiting, so that it can be forgotten.
   */
  session(isGone: () => boolean): Promise<Session> {
    if (this.#closed) return Promise.reject(closedError());
    if (this.#session?.alive) return Promise.resolve(this.#session);
    if (this.#failure?.code === "misconfigured") return Promise.reject(this.#failure);
    this.#keeping ??= this.#keep();
    return new Promise((resolve, reject) => this.#waiters.add({ isGone, resolve, reject }));
  }

  get closed(): boolean {
    return this.#closed;
  }

  refuseWhenClosed(): void {
    if (this.#closed) throw closedError();
  }

  /**
   * Notes who hears a channel; from now on every new connection hears it before anything runs on it. Gives a function that
   * ends it.
   */
  hear(channel: string, listener: (message: Buffer) => void): () => Promise<void> {
    // One function may listen twice, and each of the two ends by itself.
    const hearer = (message: Buffer) => listener(message);
    const entry = this.#channels.get(channel) ?? { listeners: new Set(), confirmed: false };
    entry.listeners.add(hearer);
    this.#channels.set(channel, entry);
    return async () => {
      entry.listeners.delete(hearer);
      if (entry.listeners.size > 0 || this.#channels.get(channel) !== entry) return;
      this.#channels.delete(channel);
      // If the connection is lost over it, the next one will not hear the channel.
      await this.#session?.unlisten(channel).catch(() => {});
    };
  }

  /** Hears a channel on a connection; resolves when the server has confirmed it. */
  async listen(session: Session, channel: string): Promise<void> {
    await session.listen(channel, (message) => {
      for (const listener of this.#channels.get(channel)?.listeners ?? []) listener(message);
    });
    const entry = this.#channels.get(channel);
    if (entry !== undefined) entry.confirmed = true;
  }

  onState(listener: (state: ConnectionState, cause?: PunctualError) => void): () => void {
    const hearer: typeof listener = (state, cause) => listener(state, cause);
    this.#stateListeners.add(hearer);
    return () => this.#stateListeners.delete(hearer);
  }

  /** Ends the connection and what waits for it. Safe to call twice. */
  async close(): Promise<void> {
    const isFirst = !this.#closed;
    this.#closed = true;
    if (isFirst) this.#tell("closed", closedError());
    this.#session?.end();
    this.#opening?.end();
    for (const waiter of this.#waiters) waiter.reject(closedError());
    this.#waiters.clear();
    this.#interrupt();
    await this.#keeping;
  }

  async #keep(): Promise<void> {
    let failures = 0;
    while (!this.#closed) {
      try {
        const session = await this.#interruptible(this.#open());
        const madeAt = this.#options.now();
        if (session !== undefined) await this.#keepUntilLost(session);
        // A server that takes connections only to end them is not asked without a pause either.
        failures = this.#options.now() - madeAt < longestPause ? failures + 1 : 0;
      } catch (error) {
        this.#fail(this.#explained(error));
        failures++;
      }
      // What somebody has to change first is not asked for more often.
      const longest = this.#failure?.code === "misconfigured" ? longestPause : firstPause * 2 ** failures;
      const pause = Math.min(longest, longestPause) * (0.5 + this.#options.random() / 2);
      let timer: NodeJS.Timeout | undefined;
      await this.#interruptible(new Promise<void>((resolve) => (timer = setTimeout(resolve, pause))));
      clearTimeout(timer);
    }
  }

  /** Makes a connection that knows the server's time and hears all channels. */
  async #open(): Promise<Session> {
    const { connector, clock, now, watchdog } = this.#options;
    const connection = await connector.connect(connectTimeout);
    const session: Session = new Session(connection, {
      clock,
      now,
      watchdog,
      onLost: (cause) => this.#lose(session, cause),
    });
    this.#opening = session;
    // Closed while the socket was being made: what follows fails, and leaves nothing open.
    if (this.#closed) session.end();
    try {
      await session.askTime();
      await Promise.all(
        Array.from(this.#channels, ([channel, { confirmed }]) =>
          this.listen(session, channel).catch((failure: unknown) => {
            const isRefused = failure instanceof CommandFailure && failure.outcome === "refused";
            if (confirmed || !isRefused) throw failure;
          }),
        ),
      );
      return session;
    } catch (error) {
      session.end();
      throw error;
    } finally {
      this.#opening = undefined;
    }
  }

  async #keepUntilLost(session: Session): Promise<void> {
    if (this.#closed) session.end();
    if (!session.alive) return;
    this.#session = session;
    this.#sessions += 1;
    this.#failure = undefined;
    for (const waiter of this.#waiters) waiter.resolve(session);
    this.#waiters.clear();
    const lost = new Promise<void>((resolve) => (this.#onLost = resolve));
    this.#tell("ready");
    await this.#interruptible(lost);
  }

  #lose(session: Session, cause: Error): void {
    // One that is lost before it was ready fails in `#open`.
    if (this.#session !== session) return;
    this.#session = undefined;
    this.#fail(this.#explained(cause));
    this.#onLost();
  }

  #fail(error: PunctualError): void {
    const news = this.#state !== "recovering" || this.#failure?.code !== error.code;
    this.#failure = error;
    for (const waiter of this.#waiters) {
      if (error.code === "misconfigured") waiter.reject(error);
      else if (!waiter.isGone()) continue;
      // In a long outage, those that gave up would pile up.
      this.#waiters.delete(waiter);
    }
    if (news) this.#tell("recovering", error);
  }

  #tell(state: ConnectionState, cause?: PunctualError): void {
    // The connections that `close` ends are no news.
    if (this.#closed && state !== "closed") return;
    this.#state = state;
    for (const listener of this.#stateListeners) listener(state, cause);
  }

  #explained(error: unknown): PunctualError {
    if (error instanceof PunctualError) return error;
    const { target } = this.#options.connector;
    const text = error instanceof Error ? error.message : String(error);
    if (error instanceof CommandFailure && isMisconfiguration(error)) {
      const advice = remedyFor(error).advice ?? "Redis refuses the connection";
      return new PunctualError("misconfigured", `Cannot use ${target}: ${advice} (${text})`, { cause: error });
    }
    return new PunctualError("not-sent", `No connection to ${target}: ${text}`, { cause: rootOf(error) });
  }

  /** Waits for `promise`, or until `close`; then gives undefined and leaves it alone. */
  #interruptible<T>(promise: Promise<T>): Promise<T | undefined> {
    if (this.#closed) {
      promise.catch(() => {});
      return Promise.resolve(undefined);
    }
    return new Promise((resolve, reject) => {
      this.#interrupt = () => resolve(undefined);
      promise.then(resolve, reject);
    });
  }
}

/** What a program can look at: the error of the system where there is one; ours around it say the same. */
export function rootOf(failure: unknown): unknown {
  return failure instanceof CommandFailure && failure.cause !== undefined ? failure.cause : failure;
}

const closedError = () => new PunctualError("closed", "The engine was closed; make a new one.");
