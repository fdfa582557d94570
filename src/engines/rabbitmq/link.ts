import { gaveUp, type Patience } from "../../connection/supervisor-patience.js";
import { PunctualError } from "../../errors.js";
import type { BrokerConnection } from "./broker-connection.js";

/** Whether the broker can be reached; `closed`: never again. */
export type LinkState = "ready" | "recovering" | "closed";
export type StateListener = (state: LinkState, cause?: PunctualError) => void;

export interface LinkOptions {
  /** Makes a connection that is ready for use. */
  readonly open: () => Promise<BrokerConnection>;
  /** Monotonic time, ms. */
  readonly now?: (() => number) | undefined;
  /** From 0 to 1, for jitter. */
  readonly random?: (() => number) | undefined;
}

/** Pauses before the connection is made again, ms: the first, doubling up to the longest. */
const firstPause = 50;
const longestPause = 1_000;

interface Waiter {
  resolve(connection: BrokerConnection): void;
  reject(error: PunctualError): void;
}

/** Keeps a connection to the broker: makes the first one when it is asked for, and a new one whenever one is lost. */
export class Link {
  readonly #open: () => Promise<BrokerConnection>;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #waiters = new Set<Waiter>();
  readonly #listeners = new Set<StateListener>();
  #connection: BrokerConnection | undefined;
  #failure: PunctualError | undefined;
  #keeping: Promise<void> | undefined;
  #closed = false;
  /** Ends what the keeper waits for. */
  #interrupt: () => void = () => {};

  constructor({ open, now = () => performance.now(), random = Math.random }: LinkOptions) {
    this.#open = open;
    this.#now = now;
    this.#random = random;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** A live connection, as soon as there is one. Fails with `closed`, `misconfigured`, and `not-sent` when patience is over. */
  async connection(patience: Patience): Promise<BrokerConnection> {
    if (this.#closed) throw closedError();
    if (this.#connection?.alive) return this.#connection;
    if (this.#failure?.code === "misconfigured") throw this.#failure;
    this.#keeping ??= this.#keep();
    let waiter: Waiter | undefined;
    const coming = new Promise<BrokerConnection>((resolve, reject) =>
      this.#waiters.add((waiter = { resolve, reject })),
    );
    const connection = await patience.outlasts(coming);
    if (connection !== gaveUp) return connection;
    if (waiter !== undefined) this.#waiters.delete(waiter);
    const why = patience.over === "aborted" ? "The call was aborted" : "The time for the call is over";
    const problem = this.#failure === undefined ? "no connection was made yet" : this.#failure.message;
    const cause = patience.over === "aborted" ? patience.reason : this.#failure?.cause;
    throw new PunctualError("not-sent", `${why}: ${problem}`, { cause });
  }

  /** Hears whether the broker can be reached. Gives a function that ends it. */
  onState(listener: StateListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends the connection and what waits for it. Safe to call twice. */
  async close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      this.#tell("closed", closedError());
      for (const waiter of this.#waiters) waiter.reject(closedError());
      this.#waiters.clear();
      this.#interrupt();
    }
    await this.#connection?.end();
    await this.#keeping;
  }

  async #keep(): Promise<void> {
    for (let failures = 0; !this.#closed;) {
      const since = this.#now();
      try {
        const connection = await this.#open();
        if (this.#closed) return await connection.end();
        await this.#keepUntilLost(connection);
      } catch (error) {
        this.#fail(
          error instanceof PunctualError ? error : new PunctualError("not-sent", String(error), { cause: error }),
        );
      }
      // A broker that takes connections only to end them is not asked without a pause either.
      failures = this.#now() - since < longestPause ? failures + 1 : 0;
      const pause = Math.min(firstPause * 2 ** failures, longestPause) * (0.5 + this.#random() / 2);
      await this.#interruptible((resolve) => setTimeout(resolve, pause));
    }
  }

  async #keepUntilLost(connection: BrokerConnection): Promise<void> {
    this.#connection = connection;
    this.#failure = undefined;
    for (const waiter of this.#waiters) waiter.resolve(connection);
    this.#waiters.clear();
    this.#tell("ready");
    await this.#interruptible((resolve) =>
      connection.onLost((cause) => {
        this.#connection = undefined;
        this.#fail(cause);
        resolve();
      }),
    );
  }

  #fail(failure: PunctualError): void {
    const isNews = this.#failure?.code !== failure.code;
    this.#failure = failure;
    if (failure.code === "misconfigured") {
      for (const waiter of this.#waiters) waiter.reject(failure);
      this.#waiters.clear();
    }
    if (isNews) this.#tell("recovering", failure);
  }

  #tell(state: LinkState, cause?: PunctualError): void {
    if (this.#closed && state !== "closed") return;
    for (const listener of this.#listeners) listener(state, cause);
  }

  /** Waits for what `begin` begins, or until `close`. */
  #interruptible(begin: (resolve: () => void) => unknown): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#interrupt = resolve;
      begin(resolve);
    });
  }
}

export const closedError = () => new PunctualError("closed", "The RabbitMQ engine was closed; make a new one.");
