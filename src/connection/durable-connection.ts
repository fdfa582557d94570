import { type CommandArgument, CommandFailure, type Connector, type Connection, type Reply } from "../clients/port.js";
import { RelayedConnection } from "../clients/relayed-connection.js";
import { type Durability, waitFor } from "./durable.js";

/** The last argument of a script whose writes, and all before them, are to be confirmed. It is for the script to see, too. */
export const toConfirm = "confirm";

/**
 * Makes connections on which scripts are followed by WAIT or WAITAOF, where their last argument asks for that. These answer for
 * what was written on their own connection, so no other will do, and they hold up all that comes behind them, so this one is
 * for nothing else.
 *
 * The reply of every script grows by one or two elements: a number that names the connection, and the answer to the wait. The
 * two are one: when the answer is lost, so is the reply.
 */
export function durableConnector(inner: Connector, wanted: Durability): Connector {
  let made = 0;
  return {
    target: inner.target,
    ...(inner.shardedChannels === undefined ? {} : { shardedChannels: inner.shardedChannels }),
    connect: async (timeout) => new DurableConnection(await inner.connect(timeout), wanted, ++made),
  };
}

class DurableConnection extends RelayedConnection {
  readonly #wanted: Durability;
  readonly #number: number;
  /** Settles, never in vain, when the wait has ended that is under way. */
  #current: Promise<unknown> = Promise.resolve();
  /** The one after it. */
  #next: Promise<Reply> | undefined;

  constructor(inner: Connection, wanted: Durability, number: number) {
    super(inner);
    this.#wanted = wanted;
    this.#number = number;
  }

  override async send(command: readonly CommandArgument[]): Promise<Reply> {
    const sent = super.send(command);
    if (command[0] !== "EVALSHA") return await sent;
    if (command.at(-1) !== toConfirm) return grown(await sent, this.#number);
    const [ran, confirmed] = await Promise.allSettled([sent, this.#confirm()]);
    if (ran.status === "rejected") throw ran.reason;
    if (confirmed.status === "rejected") throw afterWriting(confirmed.reason);
    return grown(ran.value, this.#number, confirmed.value);
  }

  /**
   * One wait for all that was sent before it, in the same packet when none is under way. While one is, the server runs nothing
   * else on this connection, so what is sent meanwhile shares the next: each with a wait of its own, they would take turns,
   * and with a fsync a second that is one a second.
   */
  #confirm(): Promise<Reply> {
    this.#next ??= this.#current.then(() => {
      this.#next = undefined;
      const answer = super.send(waitFor(this.#wanted));
      this.#current = answer.catch(() => {});
      return answer;
    });
    return this.#next;
  }
}

const grown = (reply: Reply, ...more: Reply[]): Reply => (Array.isArray(reply) ? [...reply, ...more] : reply);

/** A wait that is refused for good says so. Any other, as by a server that was demoted, came after a script that ran. */
function afterWriting(failure: unknown): unknown {
  if (!(failure instanceof CommandFailure) || failure.outcome !== "refused") return failure;
  if (failure.code === "NOPERM" || /unknown command|appendonly is disabled/i.test(failure.message)) return failure;
  return new CommandFailure("unknown", failure.message, { cause: failure });
}
