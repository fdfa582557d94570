import { type CommandArgument, CommandFailure, type Connection, type Reply } from "./port.js";
import { RelayedConnection } from "./relayed-connection.js";

/** Hears what a connection finds out about the Cluster. */
export interface ClusterNews {
  /** A node does not serve the slot, and said who does, or knew of nobody. */
  onElsewhere(failure: CommandFailure): void;
  /** It was lost, or given up while a reply was due: a node that says nothing is not told from one that was replaced. */
  onGone(): void;
}

/** A connection to the node that serves one slot. It tells what it learns of the Cluster, and what that means for a call. */
export class ClusterConnection extends RelayedConnection {
  readonly #news: ClusterNews;
  #repliesDue = 0;

  constructor(node: Connection, news: ClusterNews) {
    super(node);
    this.#news = news;
    this.onLost(() => news.onGone());
  }

  override async send(command: readonly CommandArgument[]): Promise<Reply> {
    this.#repliesDue++;
    try {
      return await super.send(command);
    } catch (error) {
      throw this.#meaning(error);
    } finally {
      this.#repliesDue--;
    }
  }

  /** Who closes a connection that it no longer needs has found out nothing. */
  override destroy(): void {
    if (this.#repliesDue > 0) this.#news.onGone();
    super.destroy();
  }

  /** Every channel is sharded, so that a wake does not travel to all nodes. */
  override async subscribe(channel: string, onMessage: (message: Buffer) => void): Promise<void> {
    try {
      await super.subscribe(channel, onMessage, true);
    } catch (error) {
      if (!isUnknownCommand(error)) throw this.#meaning(error);
      // Redis below 7.0. The scripts that run on this node publish accordingly.
      await super.subscribe(channel, onMessage);
    }
  }

  /**
   * `ELSEWHERE` is a word of ours: another connection is needed. A slot on its way to another node is waited for where it is:
   * scripts name keys that do not exist, and both nodes answer TRYAGAIN to these until the slot has arrived, so to follow ASK
   * would be of no use.
   */
  #meaning(error: unknown): unknown {
    if (!(error instanceof CommandFailure) || error.outcome !== "refused") return error;
    if (error.code === "ASK") return new CommandFailure("refused", error.message, { code: "TRYAGAIN" });
    if (error.code !== "MOVED" && error.code !== "CLUSTERDOWN") return error;
    this.#news.onElsewhere(error);
    return new CommandFailure("refused", error.message, { code: "ELSEWHERE" });
  }
}

const isUnknownCommand = (error: unknown): boolean =>
  error instanceof CommandFailure && error.outcome === "refused" && /unknown command/i.test(error.message);
