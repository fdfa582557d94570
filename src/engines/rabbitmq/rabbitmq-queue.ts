import type { Clock } from "../../clock.js";
import { Patience } from "../../connection/supervisor-patience.js";
import type {
  Burial,
  CallOptions,
  Claimed,
  ClaimRequest,
  ClaimResult,
  Counts,
  DueTime,
  EngineQueue,
  Extension,
  NewMessage,
  Receipt,
  Release,
  Retry,
  ScheduleResult,
  Settlement,
  Watcher,
} from "../../engine.js";
import type { PunctualError } from "../../errors.js";
import { sameFailure } from "../../partial-results.js";
import { unsupported } from "../../unsupported.js";
import type { BrokerConnection } from "./broker-connection.js";
import { DeadLetters } from "./dead-letters.js";
import { dueAtOf } from "./due-at.js";
import type { Turns } from "./due-order.js";
import { Intake } from "./intake.js";
import { Leasing } from "./leasing.js";
import { closedError, type Link } from "./link.js";
import type { Names } from "./names.js";
import type { Places } from "./places.js";
import { Refusals } from "./refusals.js";
import { type Parcel, Sender } from "./sender.js";
import type { Topology } from "./topology.js";

export interface RabbitmqQueueOptions {
  readonly name: string;
  /** What comes from the broker, and what follows it. */
  readonly work: Link;
  /** What goes to the broker. Of its own: a broker that is full stops reading from a connection on which it gets messages. */
  readonly calls: Link;
  readonly names: Names;
  readonly places: Places;
  readonly topology: Topology;
  readonly mode: "ladder" | "plugin";
  readonly target: string;
  readonly clock: Clock;
  readonly turns: Turns;
}

/** After how many ms a consumer claims again although nothing has come. */
const poll = 5_000;
/** How long a call waits for a connection, ms. */
const connectionPatience = 10_000;

/** One queue in a RabbitMQ. */
export class RabbitmqQueue extends Refusals implements EngineQueue {
  readonly clock: Clock;
  readonly #options: RabbitmqQueueOptions;
  readonly #sender: Sender;
  readonly #intake: Intake;
  readonly #leasing: Leasing;
  readonly #deadLetters: DeadLetters;

  constructor(options: RabbitmqQueueOptions) {
    super();
    const { name, work, calls, names, places, topology, target, clock, turns } = options;
    this.#options = options;
    this.clock = clock;
    const declare = (connection: BrokerConnection) => topology.declareQueue(connection, name);
    const mend = (connection: BrokerConnection) => topology.mend(connection, name);
    const sender = new Sender({ link: calls, declare, mend, target, clock });
    this.#sender = sender;
    this.#intake = new Intake({ link: work, declare, sender, places, work: names.work(name), clock });
    this.#leasing = new Leasing({ sender, places, clock });
    this.#deadLetters = new DeadLetters({ link: work, declare, sender, places, dead: names.dead(name), clock, turns });
  }

  get closed(): boolean {
    return this.#options.work.closed;
  }

  async schedule(messages: readonly NewMessage[], options?: CallOptions): Promise<ScheduleResult[]> {
    const now = this.clock.now();
    const { places, turns } = this.#options;
    let refusal: PunctualError | undefined;
    const results: (ScheduleResult | undefined)[] = [];
    const parcels: (Parcel & { index: number })[] = [];
    for (const [index, message] of messages.entries()) {
      const { id, payload, due, onDuplicate, attempts, expiresIn, headers } = message;
      const dueAt = dueAtOf(due, now);
      if (onDuplicate === "replace") {
        refusal ??= unsupported("rabbitmq", "replace a message", "a broker looks for none by its id", {
          operation: "schedule",
        });
      } else if (dueAt - now > places.longestDelay) {
        refusal ??= places.tooLate(dueAt - now);
      } else {
        const expiresAt = expiresIn === undefined ? undefined : dueAt + expiresIn;
        // A copy: its bytes may be changed before they are sent.
        const envelope = {
          id,
          payload: Buffer.from(payload),
          dueAt,
          turn: turns.next(),
          failures: 0,
          attempts,
          expiresAt,
          headers,
        };
        parcels.push({ index, envelope, place: (time) => places.waiting(dueAt - time) });
      }
      results.push(undefined);
    }
    const { confirmed, failure = refusal } = await this.#sender.trySending(parcels, options);
    for (const [place, { index, envelope }] of parcels.entries()) {
      if (confirmed[place]) results[index] = { outcome: "scheduled", dueAt: envelope.dueAt };
    }
    if (failure !== undefined) throw sameFailure(failure, { ...failure.details, results });
    return results as ScheduleResult[];
  }

  async claim(request: ClaimRequest): Promise<ClaimResult> {
    this.refuseWhenClosed();
    await this.#leasing.settled();
    const again = this.#leasing.leases.ofToken(request.token);
    const taken =
      again.length > 0
        ? undefined
        : await this.#intake.take(request, (id) => this.#leasing.leases.has(request.token, id));
    const granted = await this.#leasing.grant(taken?.arrivals ?? [], request);
    const leases = again.length > 0 ? again : granted.leases;
    const now = this.clock.now();
    return {
      messages: leases.map(({ arrival: { envelope }, attempt, attempts }): Claimed => {
        const { id, payload, dueAt, headers } = envelope;
        // A copy: what the handler does to its bytes must not come back with a retry.
        return { id, payload: Uint8Array.from(payload), dueAt, attempt, attempts, headers };
      }),
      leaseUntil: leases[0]?.until ?? granted.until,
      now,
      nextAt: taken === undefined || taken.isMoreDue ? now : Math.min(taken.nextDue, now + poll),
      buried: granted.buried,
      missing: [],
    };
  }

  async acknowledge(receipts: readonly Receipt[]): Promise<Settlement[]> {
    this.refuseWhenClosed();
    return this.#leasing.settling.acknowledge(receipts);
  }

  async retry(retries: readonly Retry[]): Promise<Settlement[]> {
    const { settling } = this.#open();
    // One call has one time, so that messages that are retried together stay in order.
    const now = this.clock.now();
    return await settling.move(retries, (lease, { delay, error }) => settling.failed(lease, delay, error, now));
  }

  async release(releases: readonly Release[]): Promise<Settlement[]> {
    const { settling } = this.#open();
    return await settling.move(releases, (lease, { delay }) => settling.released(lease, delay));
  }

  async bury(burials: readonly Burial[]): Promise<Settlement[]> {
    const { settling } = this.#open();
    return await settling.move(burials, (lease, { reason, error }) => settling.givenUp(lease, reason, error));
  }

  async extend(receipts: readonly Receipt[], lease: number): Promise<Extension[]> {
    return this.#open().extend(receipts, lease);
  }

  async counts(): Promise<Counts> {
    this.refuseWhenClosed();
    const { mode, names, name, topology, calls } = this.#options;
    if (mode === "plugin") {
      const reason = "the plugin does not say how many messages wait in it";
      throw unsupported("rabbitmq", "count", reason, { operation: "counts" });
    }
    const patience = new Patience(connectionPatience, undefined, () => this.clock.elapsed());
    const connection = await calls.connection(patience).finally(() => patience.end());
    await topology.declareQueue(connection, name);
    const channel = await connection.once("counts", () => connection.channel());
    const count = async (queue: string) => (await channel.checkQueue(queue)).messageCount;
    try {
      const dead = await count(names.dead(name));
      let scheduled = 0;
      for (const level of topology.levels) scheduled += await count(level);
      const due = (await count(names.work(name))) + this.#intake.waiting;
      return { scheduled, due, leased: this.#leasing.leases.size, dead, paused: false };
    } catch (error) {
      throw connection.explained(error);
    }
  }

  async revive(ids: readonly string[] | "all", due: DueTime): Promise<number> {
    this.refuseWhenClosed();
    return await this.#deadLetters.revive(ids, due);
  }

  async remove(ids: readonly string[]): Promise<number> {
    this.refuseWhenClosed();
    return await this.#deadLetters.remove(ids);
  }

  async purge(what: "waiting" | "dead"): Promise<number> {
    this.refuseWhenClosed();
    if (what === "dead") return await this.#deadLetters.purge();
    throw unsupported("rabbitmq", "purge what waits", "all queues of a prefix wait in one ladder", {
      operation: "purge",
    });
  }

  async watch(consumer: string, watcher: Watcher): Promise<AsyncDisposable> {
    this.refuseWhenClosed();
    return await this.#intake.watch(consumer, watcher);
  }

  /** Ends what runs in the background. */
  close(): void {
    this.#leasing.close();
    this.#intake.close();
  }

  #open(): Leasing {
    this.refuseWhenClosed();
    return this.#leasing;
  }

  protected override refuseWhenClosed(): void {
    if (this.closed) throw closedError();
  }
}
