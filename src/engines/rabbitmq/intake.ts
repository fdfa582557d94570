import type { Clock } from "../../clock.js";
import { Patience } from "../../connection/supervisor-patience.js";
import type { ClaimRequest, Watcher } from "../../engine.js";
import type { PunctualError } from "../../errors.js";
import { answered } from "./answered.js";
import type { Arrival } from "./arrival.js";
import type { BrokerConnection } from "./broker-connection.js";
import { Budget } from "./budget.js";
import type { Link } from "./link.js";
import type { Parcel, Sender } from "./sender.js";
import type { Places } from "./places.js";
import { Pull } from "./pull.js";
import { Stream } from "./stream.js";

export interface IntakeOptions {
  readonly link: Link;
  /** Declares the queue on a connection, once. */
  readonly declare: (connection: BrokerConnection) => Promise<void>;
  readonly sender: Sender;
  readonly places: Places;
  /** The queue of the broker that it takes from. */
  readonly work: string;
  readonly clock: Clock;
}

/** What a consumer got. */
export interface Taken {
  readonly arrivals: readonly Arrival[];
  /** There may be more that is due now. */
  readonly isMoreDue: boolean;
  /** When a message is due that waits here for the same consumer; `Infinity` for none. */
  readonly nextDue: number;
}

interface Watch {
  readonly watcher: Watcher;
  readonly stream: Stream;
  isInterrupted: boolean;
}

/** How long a call waits for a connection, ms; and one that is made again if it fails, or whose failure does no harm. */
const connectionPatience = 10_000;
const watchPatience = 2_000;
/** A message that is early by more than this waits in the broker and not here, where it would hold up others, ms. */
const longestHold = 100;

/**
 * How messages come from the broker to the consumers of this process. To one that watches the broker hands them by itself; one
 * that does not gets what it asks for. None is given before it is due by the clock of this machine.
 */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #watches = new Map<string, Watch>();
  readonly #pull: Pull;

  constructor(options: IntakeOptions) {
    this.#options = options;
    const { work, clock } = options;
    this.#pull = new Pull({
      work,
      clock,
      answered: (connection, call) => answered(connection, call, clock),
      keeps: (arrival) => this.#isNear(arrival) || this.#sendOn(arrival, undefined),
      giveBack: (arrivals) => this.giveBack(arrivals),
    });
    options.link.onState((state, cause) => {
      if (state === "ready") void this.#recover();
      else if (cause !== undefined) this.#interrupt(cause);
    });
  }

  /** How many messages wait here for consumers. */
  get waiting(): number {
    return Array.from(this.#watches.values()).reduce((sum, { stream }) => sum + stream.size, this.#pull.size);
  }

  async watch(consumer: string, watcher: Watcher): Promise<AsyncDisposable> {
    await this.#connection(watchPatience);
    const stream: Stream = new Stream({
      work: this.#options.work,
      onArrival: (dueAt) => this.#watches.get(consumer) === watch && watcher.wake(dueAt),
      keeps: (arrival) => this.#isNear(arrival) || this.#sendOn(arrival, stream),
      onLate: (arrival) => void this.giveBack([arrival]),
      clock: this.#options.clock,
    });
    const watch: Watch = { watcher, stream, isInterrupted: false };
    this.#watches.set(consumer, watch);
    return {
      [Symbol.asyncDispose]: async () => {
        if (this.#watches.get(consumer) === watch) this.#watches.delete(consumer);
        await this.giveBack(await stream.end());
      },
    };
  }

  /** Takes what is due, without what `has` says that the same claim has already. */
  async take({ consumer, limit, returns }: ClaimRequest, has: (id: string) => boolean): Promise<Taken> {
    const connection = await this.#connection(connectionPatience);
    const watch = this.#watches.get(consumer);
    const budget = new Budget(limit, has);
    if (watch === undefined || returns === false) {
      // It is not woken for anything until it comes back, so nothing may wait for it either.
      if (watch !== undefined) await this.giveBack(await watch.stream.stop());
      return await this.#pulled(connection, budget);
    }
    const { stream } = watch;
    if (limit > 0) await stream.start(connection, limit);
    const arrivals = stream.take(this.#options.clock.now(), (arrival) => budget.takes(arrival));
    // Nothing was said by the broker for a while, so it is asked whether it is there; health must be true.
    if (arrivals.length === 0) await answered(connection, stream.ping(), this.#options.clock);
    return { arrivals, isMoreDue: stream.nextDue <= this.#options.clock.now(), nextDue: stream.nextDue };
  }

  /** Ends what runs in the background. */
  close(): void {
    this.#pull.close();
  }

  /** Puts messages back that nobody worked on, so that no delivery is counted. */
  async giveBack(arrivals: readonly Arrival[]): Promise<void> {
    if (arrivals.length === 0) return;
    const parcels = arrivals.map(({ envelope }): Parcel => ({ envelope, place: () => this.#options.places.due() }));
    const { confirmed } = await this.#options.sender.trySending(parcels, { timeout: watchPatience });
    for (const [index, arrival] of arrivals.entries()) {
      if (confirmed[index]) arrival.acknowledge();
      else arrival.giveBack();
    }
  }

  async #connection(timeout: number): Promise<BrokerConnection> {
    const patience = new Patience(timeout, undefined, () => this.#options.clock.elapsed());
    try {
      const connection = await this.#options.link.connection(patience);
      await answered(connection, this.#options.declare(connection), this.#options.clock, timeout);
      return connection;
    } finally {
      patience.end();
    }
  }

  /** What a consumer gets that waits for nothing. */
  async #pulled(connection: BrokerConnection, budget: Budget): Promise<Taken> {
    const { clock } = this.#options;
    const { arrivals, isMoreDue } = await this.#pull.take(connection, budget);
    // What is a little early is worth waiting for; who asked may never ask again.
    const last = Math.max(...arrivals.map(({ dueAt }) => dueAt));
    if (last > clock.now()) await new Promise<void>((resolve) => clock.runAt(last, resolve));
    return { arrivals, isMoreDue, nextDue: Infinity };
  }

  #isNear({ dueAt }: Arrival): boolean {
    return dueAt - this.#options.clock.now() <= longestHold;
  }

  /** Puts a message that came far too early back into the broker to wait; where that fails it waits here. */
  #sendOn(arrival: Arrival, stream: Stream | undefined): false {
    const { sender, places } = this.#options;
    const place = (now: number) => places.waiting(arrival.dueAt - now);
    sender.send([{ envelope: arrival.envelope, place }]).then(
      () => arrival.acknowledge(),
      () => (stream === undefined ? arrival.giveBack() : stream.keep(arrival)),
    );
    return false;
  }

  #interrupt(cause: PunctualError): void {
    for (const watch of this.#watches.values()) {
      watch.isInterrupted = true;
      watch.watcher.interrupted(cause);
    }
  }

  /** Has every consumer get messages over the new connection. If that fails, so does the connection, and it begins anew. */
  async #recover(): Promise<void> {
    try {
      const connection = await this.#connection(watchPatience);
      for (const watch of Array.from(this.#watches.values())) {
        await watch.stream.restart(connection);
        if (!watch.isInterrupted || !connection.alive) continue;
        watch.isInterrupted = false;
        watch.watcher.recovered();
      }
    } catch {
      // It was told: the link says so for each connection that it loses.
    }
  }
}
