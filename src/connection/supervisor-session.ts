import { type CommandArgument, CommandFailure, type Connection, type Reply } from "../clients/port.js";
import type { Script } from "../scripting/script.js";
import type { ServerClock } from "./server-clock.js";

export interface SessionOptions {
  readonly clock: ServerClock;
  /** Monotonic, ms. */
  readonly now: () => number;
  /** How long the server may answer nothing while commands wait, ms. */
  readonly watchdog: number;
  /** Called once, when the connection is of no more use; not after `end`. */
  readonly onLost: (cause: Error) => void;
}

/** The last part of the watchdog's time, ms. It runs from when this process is known to run. */
const grace = 250;
const loadAttempts = 3;

/** What is known and under way on one connection; all of it is void when the connection is. */
export class Session {
  readonly #connection: Connection;
  readonly #options: SessionOptions;
  readonly #loading = new Map<string, Promise<unknown>>();
  readonly #channels = new Map<string, Promise<void>>();
  #waiting = 0;
  #lastProgress = 0;
  #watch: NodeJS.Timeout | undefined;
  #lostBy: Error | undefined;
  #ended = false;

  constructor(connection: Connection, options: SessionOptions) {
    this.#connection = connection;
    this.#options = options;
    connection.onLost((cause) => this.drop(cause));
  }

  get alive(): boolean {
    return !this.#ended;
  }

  /** Asks the server for its time. */
  async askTime(): Promise<void> {
    const sentAt = this.#options.now();
    const reply = await this.send(["TIME"]);
    const [seconds, microseconds] = Array.isArray(reply) ? reply.map(String) : [];
    const serverTime = Number(seconds) * 1000 + Number(microseconds) / 1000;
    if (!Number.isFinite(serverTime)) throw new CommandFailure("refused", "ERR TIME gave no time", { code: "ERR" });
    this.#options.clock.learn({ serverTime, resolution: 0.001, sentAt, receivedAt: this.#options.now() });
  }

  /** Runs a script, at the latest at the server time that `notAfter` gives. Loads it first when the server does not have it. */
  async evaluate(
    script: Script,
    keys: readonly string[],
    args: readonly CommandArgument[],
    notAfter: () => number,
  ): Promise<Reply> {
    for (let attempt = 1; ; attempt++) {
      const sentAt = this.#options.now();
      try {
        const reply = await this.send([
          "EVALSHA",
          script.sha1,
          String(keys.length),
          ...keys,
          String(notAfter()),
          ...args,
        ]);
        if (Array.isArray(reply) && Buffer.isBuffer(reply[0])) this.#learn(reply[0].toString("latin1"), sentAt);
        return reply;
      } catch (failure) {
        if (!(failure instanceof CommandFailure)) throw failure;
        if (failure.code === "TOOLATE") this.#learn(failure.message.slice("TOOLATE ".length), sentAt);
        if (failure.code !== "NOSCRIPT" || attempt === loadAttempts) throw failure;
        await this.#load(script);
      }
    }
  }

  /** Hears a channel; asks the server once, however often it is called. */
  listen(channel: string, onMessage: (message: Buffer) => void): Promise<void> {
    let listening = this.#channels.get(channel);
    if (listening === undefined) {
      listening = this.#supervised(() => this.#connection.subscribe(channel, onMessage));
      this.#channels.set(channel, listening);
      // The next to ask is not told of an old refusal.
      listening.catch(() => this.#channels.delete(channel));
    }
    return listening;
  }

  async unlisten(channel: string): Promise<void> {
    if (!this.#channels.delete(channel) || this.#ended) return;
    await this.#supervised(() => this.#connection.unsubscribe(channel));
  }

  /** Declares the connection to be of no use and says so. */
  drop(cause: Error): void {
    if (this.#ended) return;
    this.#lostBy = cause;
    // The supervisor hears of it before the commands that wait do, so what they are repeated on is a new connection.
    this.#options.onLost(cause);
    this.end();
  }

  /** Ends without telling anybody. What waits fails. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#watch);
    this.#connection.destroy();
  }

  /** Sends one command, once. */
  send(command: readonly CommandArgument[]): Promise<Reply> {
    return this.#supervised(() => this.#connection.send(command));
  }

  /** All callers that miss a script wait for one load. Replies come in order, so those that come later miss another one. */
  #load(script: Script): Promise<unknown> {
    let loading = this.#loading.get(script.sha1);
    if (loading === undefined) {
      loading = this.send(["SCRIPT", "LOAD", script.source]).finally(() => this.#loading.delete(script.sha1));
      this.#loading.set(script.sha1, loading);
    }
    return loading;
  }

  /** A time that the server has told, in ms, with or without decimals. */
  #learn(text: string, sentAt: number): void {
    const match = /^\d+(\.\d+)?/.exec(text);
    if (match === null) return;
    const resolution = match[1] === undefined ? 1 : 10 ** (1 - match[1].length);
    const { clock, now } = this.#options;
    clock.learn({ serverTime: Number(match[0]), resolution, sentAt, receivedAt: now() });
  }

  async #supervised<T>(run: () => Promise<T>): Promise<T> {
    if (this.#ended) throw new CommandFailure("not-sent", this.#lostBy?.message ?? "the connection was ended");
    if (this.#waiting++ === 0) {
      this.#lastProgress = this.#options.now();
      this.#watch ??= setTimeout(this.#look, this.#options.watchdog - grace);
    }
    try {
      return await run();
    } catch (failure) {
      // What a destroyed connection says of its end is less than what we know.
      if (this.#lostBy === undefined || !(failure instanceof CommandFailure) || failure.outcome === "refused")
        throw failure;
      throw new CommandFailure(failure.outcome, this.#lostBy.message, { cause: this.#lostBy });
    } finally {
      this.#waiting--;
      this.#lastProgress = this.#options.now();
    }
  }

  /**
   * One timer watches all commands: while replies come, the server is alive. When it is time to give up, this process may
   * itself have been blocked, its commands not yet written or their replies not yet read. So the last part of the time is
   * counted anew, and then the event loop gets two turns to read what is there.
   */
  readonly #look = () => {
    this.#watch = undefined;
    if (this.#waiting === 0 || this.#ended) return;
    const { now, watchdog } = this.#options;
    const left = this.#lastProgress + watchdog - grace - now();
    if (left > 0) {
      this.#watch = setTimeout(this.#look, left);
      return;
    }
    const progress = this.#lastProgress;
    this.#watch = setTimeout(() => {
      setImmediate(() =>
        setImmediate(() => {
          this.#watch = undefined;
          if (this.#waiting > 0 && this.#lastProgress === progress) {
            this.drop(new Error(`no reply within ${watchdog} ms`));
          } else this.#look();
        }),
      );
    }, grace);
  };
}
