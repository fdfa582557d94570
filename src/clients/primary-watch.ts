import type { Connection, Connector } from "./port.js";
import type { ServerPlace } from "./server-place.js";

/** How long connecting to a sentinel may take, and the pause before it is tried again, ms. */
const connectTimeout = 1_000;
const pause = 1_000;

export interface PrimaryWatchOptions {
  readonly sentinels: readonly Connector[];
  /** What they call the primary. */
  readonly name: string;
  /** Another server is the primary now. */
  readonly onSwitch: (before: ServerPlace, now: ServerPlace) => void;
}

/**
 * Hears from sentinels when another server becomes the primary. The old one may live on and take writes until they tell it to
 * follow, 8 s later by default, and then forgets them; and an idle consumer would find out only when it claims next.
 *
 * All of them are heard: one may lie on the machine that has failed. What is not heard is found out later, by the replies.
 */
export class PrimaryWatch {
  readonly #options: PrimaryWatchOptions;
  readonly #connections = new Set<Connection>();
  readonly #timers = new Set<NodeJS.Timeout>();
  /** Grows with each start and stop; what belongs to an earlier one ends. */
  #epoch = 0;

  constructor(options: PrimaryWatchOptions) {
    this.#options = options;
  }

  /** Begins to listen; at once, whatever happens to the connections. */
  start(): void {
    const epoch = ++this.#epoch;
    for (const sentinel of this.#options.sentinels) void this.#hear(sentinel, epoch);
  }

  /** Ends it. Safe to call twice. */
  stop(): void {
    this.#epoch++;
    for (const timer of this.#timers) clearTimeout(timer);
    for (const connection of this.#connections) connection.destroy();
    this.#timers.clear();
    this.#connections.clear();
  }

  async #hear(sentinel: Connector, epoch: number): Promise<void> {
    const again = () => {
      if (epoch !== this.#epoch) return;
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        void this.#hear(sentinel, epoch);
      }, pause);
      this.#timers.add(timer);
    };
    let connection: Connection;
    try {
      connection = await sentinel.connect(connectTimeout);
    } catch {
      again();
      return;
    }
    if (epoch !== this.#epoch) {
      connection.destroy();
      return;
    }
    this.#connections.add(connection);
    connection.onLost(() => {
      this.#connections.delete(connection);
      again();
    });
    try {
      // "<name> <old host> <old port> <new host> <new port>"
      await connection.subscribe("+switch-master", (message) => {
        const [name, oldHost = "", oldPort, host = "", port] = String(message).split(" ");
        if (name !== this.#options.name || epoch !== this.#epoch) return;
        this.#options.onSwitch({ host: oldHost, port: Number(oldPort) }, { host, port: Number(port) });
      });
    } catch {
      // A sentinel that does not let us listen is left alone for a while.
      if (!this.#connections.delete(connection)) return;
      connection.destroy();
      again();
    }
  }
}
