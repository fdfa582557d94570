import { systemClock } from "../../clock.js";
import type { Engine, EngineQueue, OpenOptions } from "../../engine.js";
import { type BrokerConnection, connectTo } from "./broker-connection.js";
import {
  type RabbitmqEngineOptions,
  type RabbitmqEngineSettings,
  readRabbitmqEngineOptions,
} from "./engine-options.js";
import { Turns } from "./due-order.js";
import { Ladder } from "./ladder.js";
import { Link } from "./link.js";
import { Names } from "./names.js";
import { Places } from "./places.js";
import { RabbitmqQueue } from "./rabbitmq-queue.js";
import { unsupported } from "./refusals.js";
import { Topology } from "./topology.js";

export type { RabbitmqEngineOptions };

/** How long the lowest level of the ladder holds a message, ms; measured, see the page of this engine. */
const grain = 8;

/**
 * Keeps messages in RabbitMQ 3.8 or newer, without a plugin. Needs `amqplib` to be installed. Connects when it is first used,
 * and again whenever the connection is lost. For teams that run a RabbitMQ already: a broker cannot cancel, reschedule, replace,
 * list or look at a message, so those calls fail with `unsupported`; `docs/reference/engines/rabbitmq.md` has the rest.
 *
 * Throws `invalid-argument` when an option is wrong.
 */
export function rabbitmqEngine(options: RabbitmqEngineOptions): Engine {
  return rabbitmqEngineOn(readRabbitmqEngineOptions(options), new Ladder(grain));
}

/** @internal The same with a ladder of another grain, to measure what a grain costs. */
export function rabbitmqEngineOn(settings: RabbitmqEngineSettings, ladder: Ladder): Engine {
  return new RabbitmqEngine(settings, ladder);
}

class RabbitmqEngine implements Engine {
  readonly name = "rabbitmq";
  readonly #settings: RabbitmqEngineSettings;
  readonly #ladder: Ladder;
  readonly #names: Names;
  readonly #topology: Topology;
  readonly #turns = new Turns(systemClock);
  readonly #work: Link;
  readonly #calls: Link;
  readonly #queues = new Map<string, RabbitmqQueue>();

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
    if (rememberFor > 0) throw unsupported("remember ids (rememberFor)", "a broker knows none");
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
    await Promise.all([this.#work.close(), this.#calls.close()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #connect(): Promise<BrokerConnection> {
    const connection = await connectTo(this.#settings.address);
    try {
      await this.#topology.declareShared(connection);
      return connection;
    } catch (error) {
      await connection.end();
      throw error;
    }
  }
}
