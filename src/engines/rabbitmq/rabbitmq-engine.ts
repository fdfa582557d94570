import { systemClock } from "../../clock.js";
import type { Engine, EngineQueue, OpenOptions } from "../../engine.js";
import { unsupported } from "../../unsupported.js";
import { type BrokerConnection, connectTo } from "./broker-connection.js";
import type { RabbitmqEngineSettings } from "./engine-options.js";
import { Turns } from "./due-order.js";
import type { Ladder } from "./ladder.js";
import { closedError, Link } from "./link.js";
import { Names } from "./names.js";
import { Places } from "./places.js";
import { RabbitmqQueue } from "./rabbitmq-queue.js";
import { Topology } from "./topology.js";

/** An engine on a broker. Its ladder is given, so that what a grain costs can be measured. */
export class RabbitmqEngine implements Engine {
  readonly name = "rabbitmq";
  readonly #settings: RabbitmqEngineSettings;
  readonly #ladder: Ladder;
  readonly #names: Names;
  readonly #topology: Topology;
  readonly #turns = new Turns(systemClock);
  readonly #work: Link;
  readonly #calls: Link;
  readonly #queues = new Map<string, RabbitmqQueue>();
  /** Connections that are not ready yet: a broker that hangs must not hold `close`. */
  readonly #opening = new Set<BrokerConnection>();

  constructor(settings: RabbitmqEngineSettings, ladder: Ladder) {
    const { prefix, mode, queues } = settings;
    this.#settings = settings;
    this.#ladder = ladder;
    this.#names = new Names(prefix);
    this.#topology = new Topology({ names: this.#names, ladder, mode, queues });
    this.#work = new Link({ open: () => this.#connect() });
    this.#calls = new Link({ open: () => this.#connect() });
  }

  open(name: string, { rememberFor = 0 }: OpenOptions = {}): EngineQueue {
    if (rememberFor > 0) {
      throw unsupported("rabbitmq", "remember ids (rememberFor)", "a broker knows none", { operation: "schedule" });
    }
    let queue = this.#queues.get(name);
    if (queue === undefined) {
      const { mode, address } = this.#settings;
      queue = new RabbitmqQueue({
        name,
        work: this.#work,
        calls: this.#calls,
        names: this.#names,
        places: new Places(this.#names, this.#ladder, mode, name),
        topology: this.#topology,
        mode,
        target: address.target,
        clock: systemClock,
        turns: this.#turns,
      });
      this.#queues.set(name, queue);
    }
    return queue;
  }

  async close(): Promise<void> {
    for (const queue of this.#queues.values()) queue.close();
    for (const connection of this.#opening) connection.drop(closedError());
    await Promise.all([this.#work.close(), this.#calls.close()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #connect(): Promise<BrokerConnection> {
    const connection = await connectTo(this.#settings.address);
    this.#opening.add(connection);
    try {
      await this.#topology.declareShared(connection);
      return connection;
    } catch (error) {
      await connection.end();
      throw error;
    } finally {
      this.#opening.delete(connection);
    }
  }
}
