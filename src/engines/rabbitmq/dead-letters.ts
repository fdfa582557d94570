import type { Clock } from "../../clock.js";
import { Patience } from "../../connection/supervisor-patience.js";
import type { DueTime } from "../../engine.js";
import { failureAfter } from "../../partial-results.js";
import { answered } from "./answered.js";
import type { Arrival } from "./arrival.js";
import type { BrokerConnection, Channel } from "./broker-connection.js";
import { dueAtOf } from "./due-at.js";
import type { Turns } from "./due-order.js";
import type { Envelope } from "./envelope.js";
import { handOut } from "./hand-out.js";
import type { Link } from "./link.js";
import type { Places } from "./places.js";
import type { Parcel, Sender } from "./sender.js";

export interface DeadLettersOptions {
  readonly link: Link;
  readonly declare: (connection: BrokerConnection) => Promise<void>;
  readonly sender: Sender;
  readonly places: Places;
  /** The queue of the broker in which they lie. */
  readonly dead: string;
  readonly turns: Turns;
  readonly clock: Clock;
}

/** How long a call waits for a connection, ms. */
const patienceFor = 10_000;
/** Messages that are on their way at a time. */
const batchSize = 250;

/**
 * The dead letters of one queue. A broker finds none by its id, so what concerns some of them takes all of them out, one after
 * the other, and puts those that are not concerned back at the end: after one round they lie as they did before.
 */
export class DeadLetters {
  readonly #options: DeadLettersOptions;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: DeadLettersOptions) {
    this.#options = options;
  }

  /** Brings back those with these ids, or all; answers how many. */
  async revive(ids: readonly string[] | "all", due: DueTime): Promise<number> {
    const { places, clock, turns } = this.#options;
    const dueAt = dueAtOf(due, clock.now());
    // In the order that was asked for, wherever they lie.
    const given = new Map(ids === "all" ? [] : ids.map((id) => [id, turns.next()]));
    return await this.#goThrough(ids, ({ id, payload, attempts, headers }) => {
      const envelope: Envelope = {
        id,
        payload,
        attempts,
        headers,
        dueAt,
        turn: given.get(id) ?? turns.next(),
        failures: 0,
      };
      return { envelope, place: (now) => places.waiting(dueAt - now) };
    });
  }

  /** Deletes those with these ids; answers how many. */
  async remove(ids: readonly string[]): Promise<number> {
    return await this.#goThrough(ids, () => undefined);
  }

  /** Deletes all; answers how many. */
  async purge(): Promise<number> {
    return await this.#onChannel(async (_, channel) => (await channel.purgeQueue(this.#options.dead)).messageCount);
  }

  /** Does with each of these what `parcel` says: it is sent there, or deleted. Answers how many these were. */
  async #goThrough(
    ids: readonly string[] | "all",
    parcel: (envelope: Envelope) => Parcel | undefined,
  ): Promise<number> {
    if (ids.length === 0) return 0;
    const wanted = ids === "all" ? undefined : new Set(ids);
    const { dead, places, sender, clock } = this.#options;
    let done = 0;
    return await this.#onChannel(async (connection, channel) => {
      // Those that come meanwhile lie behind those that are there now.
      let left = (await channel.checkQueue(dead)).messageCount;
      while (left > 0) {
        const count = Math.min(left, batchSize);
        const arrivals = await handOut(connection, channel, count, {
          queue: dead,
          clock,
          answered: (one, call) => answered(one, call, clock),
        });
        // Fewer than there were: somebody else is at it, too.
        left = arrivals.length < count ? 0 : left - count;
        const isConcerned = ({ id }: Arrival) => wanted === undefined || wanted.has(id);
        const parcels = arrivals.map((arrival) => {
          const { envelope } = arrival;
          return isConcerned(arrival) ? parcel(envelope) : { envelope, place: () => places.dead() };
        });
        const sent = parcels.filter((one) => one !== undefined);
        const { confirmed, failure } = await sender.trySending(sent);
        const stored = new Set(sent.filter((_, place) => confirmed[place]));
        for (const [place, arrival] of arrivals.entries()) {
          const one = parcels[place];
          const isOver = one === undefined || stored.has(one);
          const isGone = isOver ? arrival.acknowledge() : arrival.giveBack();
          // One that is stored anew has come back, even if it should lie here still.
          if (isConcerned(arrival) && isOver && (one !== undefined || isGone)) done += 1;
        }
        if (failure !== undefined) throw failure;
      }
      return done;
    }).catch((error: unknown) => {
      // What was done stays done, so that it is known with what is left to do.
      throw failureAfter(error, done);
    });
  }

  /** One after the other: what one has taken out the next one would not find. */
  #onChannel<T>(work: (connection: BrokerConnection, channel: Channel) => Promise<T>): Promise<T> {
    const working = this.#last.then(() => this.#onOwnChannel(work));
    this.#last = working.catch(() => {});
    return working;
  }

  async #onOwnChannel<T>(work: (connection: BrokerConnection, channel: Channel) => Promise<T>): Promise<T> {
    const { link, declare, clock } = this.#options;
    const patience = new Patience(patienceFor, undefined, () => clock.elapsed());
    const connection = await link.connection(patience).finally(() => patience.end());
    await declare(connection);
    const channel = await connection.borrowChannel();
    try {
      return await work(connection, channel);
    } catch (error) {
      throw connection.explained(error);
    } finally {
      connection.giveBack(channel);
    }
  }
}
