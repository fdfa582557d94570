import { type CommandArgument, CommandFailure, type Connector, type Reply } from "../clients/port.js";
import type { CancelTimer } from "../clock.js";
import type { CallOptions } from "../engine.js";
import { PunctualError } from "../errors.js";
import { sameFailure } from "../partial-results.js";
import { remedyFor } from "./replies-of-failure.js";
import type { Evaluation, Evaluator, Script, ScriptArguments } from "../scripting/script.js";
import { ServerClock } from "./server-clock.js";
import { type ConnectionState, Link, rootOf } from "./supervisor-link.js";
import { gaveUp, Patience } from "./supervisor-patience.js";
import type { Session } from "./supervisor-session.js";

export interface SupervisorOptions {
  readonly connector: Connector;
  /** The estimate of the server's time, which several supervisors of one server can share. Default a new one. */
  readonly clock?: ServerClock | undefined;
  /** Monotonic time, ms. Default `performance.now()`. */
  readonly now?: (() => number) | undefined;
  /** From 0 to 1, for jitter. Default `Math.random()`. */
  readonly random?: (() => number) | undefined;
  /**
   * How long the server may keep a command waiting on purpose, ms: commands may take longer by that. A call may sit through
   * the wait of another one before its own, so it has twice that more than its `timeout` to be answered, and no more than its
   * `timeout` to be sent. Default 0.
   */
  readonly longestWait?: number | undefined;
}

export interface EvaluateOptions extends CallOptions {
  /**
   * Called before each attempt, when there is a connection for it. What it gives is waited for, and what it fails with fails
   * the call; it ends by itself when patience is over.
   */
  readonly prepare?: ((patience: Patience) => Promise<void> | undefined) | undefined;
}

/** What queues need of a supervisor. */
export type Connected = Pick<
  Supervisor,
  "clock" | "closed" | "connectionCount" | "shardedChannels" | "evaluate" | "subscribe" | "onState"
>;

/** How long a command may wait for its reply, and how long after it was sent it may still run, ms. */
export const commandTimeout = 2_000;
/** How long a call waits for Redis unless it says otherwise, ms. */
const defaultTimeout = 10_000;

/** Pause before a call is repeated that the server refused, ms. */
const firstPause = 50;
const longestPause = 2_000;

/**
 * Runs scripts, whatever happens to the connection meanwhile. It connects when it is first needed, and then again and again
 * until it is closed. A connection that was lost, or on which the server has been silent for 2 s, is thrown away and a new
 * one is made: a client that repairs itself repeats what it must not, or hangs.
 */
export class Supervisor implements Evaluator {
  readonly clock: ServerClock;
  /** Whether it hears every channel as a sharded one, as in a Cluster. */
  readonly shardedChannels: boolean;
  readonly #link: Link;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #target: string;
  readonly #longestWait: number;

  constructor({
    connector,
    clock = new ServerClock(),
    now = () => performance.now(),
    random = Math.random,
    longestWait = 0,
  }: SupervisorOptions) {
    this.clock = clock;
    this.shardedChannels = connector.shardedChannels ?? false;
    this.#now = now;
    this.#random = random;
    this.#target = connector.target;
    this.#longestWait = longestWait;
    this.#link = new Link({ connector, clock, now, random, watchdog: commandTimeout + longestWait });
  }

  /** Whether `close` was called. */
  get closed(): boolean {
    return this.#link.closed;
  }

  /** How many connections there were so far: behind another one may be another server, or one that has lost what it had. */
  get connectionCount(): number {
    return this.#link.sessions;
  }

  async evaluate(
    script: Script,
    keys: readonly string[],
    args: ScriptArguments,
    { timeout = defaultTimeout, signal, prepare }: EvaluateOptions = {},
  ): Promise<Evaluation> {
    const patience = new Patience(timeout + 2 * this.#longestWait, signal, this.#now);
    // One that was sent later could not be answered in time any more, though all that it lacks is the answer to a wait.
    const untilSent = this.#longestWait === 0 ? patience : new Patience(timeout, signal, this.#now);
    let notAfter = 0;
    // A script that outlived its caller could still act when the caller has long done something else. It grows, so that the
    // server can tell a later attempt from one that hung on its way.
    const nextNotAfter = () => {
      const time = Math.ceil(this.clock.latest() + Math.min(commandTimeout + this.#longestWait, patience.left));
      return (notAfter = Math.max(notAfter + 1, time));
    };
    let uncertain = false;
    /** After this server time no attempt that was lost can run any more. */
    let lostUntil = 0;
    let last: CommandFailure | undefined;
    try {
      for (let attempt = 0; ; attempt++) {
        // What may have run is asked for as long as anybody waits for it.
        const limit = uncertain ? patience : untilSent;
        const session = await this.#session(limit, uncertain, last);
        const preparing = prepare?.(limit);
        if (preparing !== undefined) {
          await preparing;
          if (limit.over !== undefined) throw this.#giveUp(limit, uncertain, last);
        }
        const values = typeof args === "function" ? args(uncertain) : args;
        const ended = await patience.outlasts(settled(session.evaluate(script, keys, values, nextNotAfter)));
        if (ended === gaveUp) throw this.#giveUp(patience, true, last);
        if (ended instanceof CommandFailure) {
          last = ended;
          if (ended.outcome === "unknown") [uncertain, lostUntil] = [true, notAfter];
          await this.#remedy(ended, session, attempt, limit, script);
        } else {
          if (uncertain && !script.harmlessWhenLate) await this.#outlive(lostUntil, patience);
          return { reply: handedOver(ended.reply), uncertain };
        }
      }
    } catch (error) {
      if (!(error instanceof PunctualError)) throw error;
      // Calls that wait for one connection get one failure; each caller is to find itself in the frames.
      throw uncertain ? asUnknown(error) : sameFailure(error);
    } finally {
      patience.end();
      untilSent.end();
    }
  }

  /**
   * Sends commands that are no script, on one connection. Where one was refused or could not be sent, `work` begins anew; it
   * must bear that. Fails with `outcome-unknown` when a reply was lost: nothing is repeated then.
   */
  async run<T>(
    work: (send: (...command: readonly CommandArgument[]) => Promise<Reply>) => Promise<T>,
    { timeout = defaultTimeout, signal }: CallOptions = {},
  ): Promise<T> {
    const patience = new Patience(timeout, signal, this.#now);
    try {
      for (let attempt = 0, last: CommandFailure | undefined; ; attempt++) {
        const session = await this.#session(patience, false, last);
        const ended = await patience.outlasts(settled(work((...command) => session.send(command))));
        if (ended === gaveUp) throw this.#giveUp(patience, true, last);
        if (!(ended instanceof CommandFailure)) return ended.reply;
        last = ended;
        if (ended.outcome === "unknown") {
          session.drop(ended);
          this.#link.refuseWhenClosed();
          throw new PunctualError("outcome-unknown", sentence("the reply was lost", this.#target, ended), {
            cause: ended,
          });
        }
        await this.#remedy(ended, session, attempt, patience);
      }
    } finally {
      patience.end();
    }
  }

  /**
   * Hears a channel, also over lost connections, until the function that it gives is called. Waits until the server has
   * confirmed it, however long that takes, unless `signal` aborts. Fails at once with `misconfigured` and `closed`.
   */
  async subscribe(
    channel: string,
    listener: (message: Buffer) => void,
    { signal }: Pick<CallOptions, "signal"> = {},
  ): Promise<() => Promise<void>> {
    const patience = new Patience(Infinity, signal, this.#now);
    const unsubscribe = this.#link.hear(channel, listener);
    try {
      for (let attempt = 0; ; attempt++) {
        const session = await this.#session(patience);
        const ended = await patience.outlasts(settled(this.#link.listen(session, channel)));
        if (ended === gaveUp) throw this.#giveUp(patience, false, undefined);
        if (!(ended instanceof CommandFailure)) return unsubscribe;
        await this.#remedy(ended, session, attempt, patience);
      }
    } catch (error) {
      await unsubscribe();
      throw error;
    } finally {
      patience.end();
    }
  }

  /**
   * Hears whether the server can be reached: `recovering` when the connection was lost or could not be made, with the cause
   * (and again when the cause changes); `ready` when there is one again and all channels are heard; `closed` at the end.
   * Gives a function that ends it.
   */
  onState(listener: (state: ConnectionState, cause?: PunctualError) => void): () => void {
    return this.#link.onState(listener);
  }

  /** Ends the connection. Calls under way fail with `closed`. Safe to call twice. */
  close(): Promise<void> {
    return this.#link.close();
  }

  /** A live connection, as soon as there is one. */
  async #session(patience: Patience, mayHaveRun = false, last?: CommandFailure): Promise<Session> {
    const session = await patience.outlasts(this.#link.session(() => patience.over !== undefined));
    if (session === gaveUp) throw this.#giveUp(patience, mayHaveRun, last);
    return session;
  }

  /**
   * Waits until no attempt can run any more that must not do so after `notAfter`. Also when the time for the call is over
   * first: that is the time of its attempts, and they were answered.
   */
  async #outlive(notAfter: number, patience: Patience): Promise<void> {
    const { over, cancel } = this.#untilClosedOr(
      (resolve) => this.clock.runAt(notAfter + 1, resolve),
      // When the server's clock has stepped back, not for as long as that.
      (resolve) => this.clock.runAfter(2 * (commandTimeout + this.#longestWait), resolve),
    );
    try {
      if ((await patience.outlasts(over)) === gaveUp) {
        if (patience.over === "aborted") throw this.#giveUp(patience, true, undefined);
        await over;
      }
      this.#link.refuseWhenClosed();
    } finally {
      cancel();
    }
  }

  /** Resolves when one of these does or when the connection is ended for good; `cancel` ends all of them. */
  #untilClosedOr(...begins: ((resolve: () => void) => CancelTimer)[]): { over: Promise<void>; cancel: () => void } {
    const cancels: (() => unknown)[] = [];
    const over = new Promise<void>((resolve) => {
      cancels.push(...begins.map((begin) => begin(resolve)));
      cancels.push(this.#link.onState((state) => state === "closed" && resolve()));
    });
    return { over, cancel: () => cancels.forEach((cancel) => cancel()) };
  }

  /** Prepares the next attempt, or fails for good. */
  async #remedy(
    failure: CommandFailure,
    session: Session,
    attempt: number,
    patience: Patience,
    script?: Script,
  ): Promise<void> {
    this.#link.refuseWhenClosed();
    const { action, dropConnection, advice } = remedyFor(failure, script);
    if (dropConnection) session.drop(failure);
    // Whatever it is: what does not help the first times is not tried without a pause.
    if (action === "repeat" && attempt < 3) return;
    if (action === "repeat" || action === "repeat-later") {
      const pause = Math.min(firstPause * 2 ** attempt, longestPause) * (0.5 + this.#random() / 2);
      const { over, cancel } = this.#untilClosedOr((resolve) =>
        this.clock.runAfter(Math.min(pause, patience.left), resolve),
      );
      await patience.outlasts(over).finally(cancel);
      return;
    }
    throw new PunctualError(action, sentence(advice ?? "Redis refused the call", this.#target, failure), {
      cause: failure,
      details: { reply: failure.code },
    });
  }

  #giveUp(patience: Patience, mayHaveRun: boolean, last: CommandFailure | undefined): PunctualError {
    const aborted = patience.over === "aborted";
    const why = aborted ? "The call was aborted" : "The time for the call is over";
    const noConnection = this.#link.lastFailure;
    // A caller that aborts finds its own reason as the cause; what went wrong before that is in the sentence.
    const cause = aborted ? patience.reason : (rootOf(last) ?? noConnection?.cause);
    const options = cause === undefined ? {} : { cause };
    const because = last === undefined ? "" : `: ${last.message}`;
    const unreachable = last === undefined && noConnection !== undefined ? `. ${noConnection.message}` : undefined;
    if (mayHaveRun) {
      // That it cannot be reached now says more than how the reply was lost.
      const reason =
        noConnection === undefined ? `; no reply from ${this.#target}${because}` : `. ${noConnection.message}`;
      return new PunctualError("outcome-unknown", `${why}, and it may have run${reason}`, options);
    }
    if (last?.outcome === "refused") {
      const sentence = `${why}; ${this.#target} did not run it${because}`;
      return new PunctualError("refused", sentence, { ...options, details: { reply: last.code } });
    }
    const reason =
      unreachable ??
      (last === undefined ? ` before it was sent to ${this.#target}` : `. No connection to ${this.#target}${because}`);
    return new PunctualError("not-sent", `${why}${reason}`, options);
  }
}

/**
 * What an array held, in a new one. The lists of commands in client libraries that are never empty link dead entries to later
 * ones; once one of them has become old, all replies behind it live until a full collection. At 120,000 messages/s these were
 * two thirds of what was promoted.
 */
function handedOver(reply: Reply): Reply {
  return Array.isArray(reply) ? reply.splice(0) : reply;
}

/** A failure as a value; anything else that is thrown is a fault of ours and stays thrown. */
async function settled<T>(promise: Promise<T>): Promise<{ reply: T } | CommandFailure> {
  try {
    return { reply: await promise };
  } catch (error) {
    if (error instanceof CommandFailure) return error;
    throw error;
  }
}

/** After an attempt that may have run, no later failure says that nothing was changed. */
function asUnknown(error: PunctualError): PunctualError {
  if (error.code === "closed" || error.code === "outcome-unknown") return sameFailure(error);
  const { message, cause, details } = error;
  const sentence = `The call may have run, and could not be repeated: ${message}`;
  return new PunctualError("outcome-unknown", sentence, { cause: cause ?? error, details });
}

function sentence(meaning: string, target: string, { message }: CommandFailure): string {
  return `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)} (${target}): ${message}`;
}
