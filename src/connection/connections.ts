import type { Connector } from "../clients/port.js";
import type { ServerWatch } from "./checked-connector.js";
import type { Durability } from "./durable.js";
import { durableConnector } from "./durable-connection.js";
import { ServerClock } from "./server-clock.js";
import { Supervisor } from "./supervisor.js";

/** The connections on which a queue works, or one partition of it. */
export interface QueueConnections {
  /** For claims, what follows a claim, and watching: what consumers do. */
  readonly work: Supervisor;
  /** For everything else. Of its own, so that a bulk schedule does not stand in front of a claim. */
  readonly calls: Supervisor;
  /** For schedules that wait to be confirmed, where these are asked for: a wait holds up all that comes behind it. */
  readonly durable?: Supervisor | undefined;
}

export interface ConnectionsOptions {
  /** What some schedules wait for. */
  readonly durability: Durability | undefined;
  /** Looks at the servers. */
  readonly watch: ServerWatch;
}

/**
 * The connections of an engine. On one server all queues share two. In a Cluster each slot has its own two, made when it is
 * first asked for: its queue moves to another node by itself, and nothing else is to wait for it.
 */
export class Connections {
  readonly #connector: Connector;
  readonly #durability: Durability | undefined;
  readonly #watch: ServerWatch;
  readonly #made = new Map<string, QueueConnections>();
  #closed = false;

  constructor(connector: Connector, { durability, watch }: ConnectionsOptions) {
    this.#connector = connector;
    this.#durability = durability;
    this.#watch = watch;
  }

  /** @param key Any key of the queue or partition; all of them share one slot by their hash tag. */
  for(key: string): QueueConnections {
    const tag = this.#connector.forKey === undefined ? "" : (/\{[^}]+\}/.exec(key)?.[0] ?? key);
    let connections = this.#made.get(tag);
    if (connections === undefined) {
      const bare = this.#connector.forKey?.(key) ?? this.#connector;
      const connector = this.#watch.over(bare);
      // Servers have clocks of their own.
      const clock = new ServerClock();
      const durable = this.#durability && {
        durable: new Supervisor({
          connector: durableConnector(this.#watch.over(bare, this.#durability), this.#durability),
          clock,
          longestWait: this.#durability.timeout,
        }),
      };
      connections = {
        work: new Supervisor({ connector, clock }),
        calls: new Supervisor({ connector, clock }),
        ...durable,
      };
      this.#made.set(tag, connections);
      // Made too late: what it is asked for fails with `closed`.
      if (this.#closed) void this.close();
    }
    return connections;
  }

  /** Ends all of them. Safe to call twice. */
  async close(): Promise<void> {
    this.#closed = true;
    const supervisors = Array.from(this.#made.values(), ({ work, calls, durable }) =>
      durable === undefined ? [work, calls] : [work, calls, durable],
    ).flat();
    await Promise.all(supervisors.map((supervisor) => supervisor.close()));
  }
}
