/**
 * The narrow port through which every engine on Redis speaks to a server. An adapter makes it from a client library and is
 * about 100 lines: all logic is Lua sent through `send`. Arguments and replies are binary safe.
 */

/** A reply as an engine sees it: bulk and simple strings are bytes, whole numbers are numbers, nil is null. */
export type Reply = Buffer | number | null | Reply[];

/** One argument of a command. Strings are sent as UTF-8. */
export type CommandArgument = string | Buffer;

/**
 * How a failed command ended.
 * - `refused`: the server answered that it did not run it (an error reply).
 * - `not-sent`: the bytes did not leave this process.
 * - `unknown`: the bytes were, or may have been, sent and no reply came; it may have run, now or later.
 */
export type FailureOutcome = "refused" | "not-sent" | "unknown";

/** The only error with which `send` and `subscribe` reject. */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure";
  readonly outcome: FailureOutcome;
  /** The first word of the server's error reply, such as `NOSCRIPT` or `OOM`; empty when there was no reply. */
  readonly code: string;

  constructor(outcome: FailureOutcome, message: string, options: { code?: string; cause?: unknown } = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.outcome = outcome;
    this.code = options.code ?? "";
  }
}

/** One live connection. It never reconnects and never sends anything twice: the supervisor makes a new one instead. */
export interface Connection {
  /** Sends one command. Commands of one tick go out together; replies come in the order of the commands. */
  send(command: readonly CommandArgument[]): Promise<Reply>;
  /**
   * Hears what is published on a channel, until the connection is closed. Resolves when the server has confirmed it.
   * @param sharded With SSUBSCRIBE: what is published with SPUBLISH in the shard of a Cluster that serves the channel's slot. The
   * connection is lost when the slot moves away.
   */
  subscribe(channel: string, onMessage: (message: Buffer) => void, sharded?: boolean): Promise<void>;
  /** Stops hearing a channel. */
  unsubscribe(channel: string): Promise<void>;
  /** Called once, when the connection was lost or destroyed by the server; not after `destroy`. */
  onLost(listener: (cause: Error) => void): void;
  /** Closes the socket at once. What waits for a reply is rejected as `unknown`. Safe to call twice. */
  destroy(): void;
}

/**
 * Makes connections. `connect` rejects with a `CommandFailure`, in `connectTimeout` ms at the latest, or with a
 * `PunctualError` `misconfigured` where trying again is of no use before somebody changes something.
 */
export interface Connector {
  /** Where it connects to, without secrets; for error texts. */
  readonly target: string;
  connect(connectTimeout: number): Promise<Connection>;
  /** Loads the client library, where that is yet to be done, so that it is not counted as connecting. Fails as `connect` does. */
  load?(): Promise<unknown>;
  /** In a Cluster: connects to the node that serves a key, whichever that is at the time. Left out: one server serves all. */
  forKey?(key: string): Connector;
  /** Whether its connections hear every channel as a sharded one. Default false. */
  readonly shardedChannels?: boolean;
}
