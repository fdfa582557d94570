import type { Clock } from "../../clock.js";
import { PunctualError } from "../../errors.js";
import { Arrival } from "./arrival.js";
import type { BrokerConnection, Channel, Message } from "./broker-connection.js";
import { inDueOrder } from "./due-order.js";
import { endConsumer } from "./end-consumer.js";

export interface StreamOptions {
  /** The queue of the broker from which it takes. */
  readonly work: string;
  /** A message has come that is due at `dueAt`. */
  readonly onArrival: (dueAt: number) => void;
  /** Whether a message that has come is to be kept here until it is due; else the stream does not keep it. */
  readonly keeps: (arrival: Arrival) => boolean;
  /** A message has come, or could not be put elsewhere, when the stream had been stopped. */
  readonly onLate: (arrival: Arrival) => void;
  readonly clock: Clock;
}

/** The most messages that AMQP lets a broker hand out ahead. */
const mostAhead = 65_535;

/**
 * What the broker hands to one consumer by itself, as many at a time as the consumer works on. What comes early waits here
 * until it is due.
 */
export class Stream {
  readonly #options: StreamOptions;
  /** In due order. */
  #waiting: Arrival[] = [];
  /** All that the broker waits to hear of. */
  readonly #open = new Set<Arrival>();
  #connection: BrokerConnection | undefined;
  #channel: Channel | undefined;
  #tag: string | undefined;
  #ahead = 0;
  #isOn = false;
  #starting: Promise<void> = Promise.resolve();

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  /** When the first message that waits here is due; `Infinity` when none does. */
  get nextDue(): number {
    return this.#waiting[0]?.dueAt ?? Infinity;
  }

  /** How many wait here. */
  get size(): number {
    return this.#waiting.length;
  }

  /** Has the broker hand out messages over this connection, `room` at a time. */
  start(connection: BrokerConnection, room: number): Promise<void> {
    this.#starting = this.#starting.catch(() => {}).then(() => this.#start(connection, room));
    return this.#starting;
  }

  /** Over a new connection, as it was before. */
  async restart(connection: BrokerConnection): Promise<void> {
    if (this.#tag !== undefined) await this.start(connection, 0);
  }

  /** Messages that are due and that `takes` takes. */
  take(now: number, takes: (arrival: Arrival) => boolean): Arrival[] {
    const taken: Arrival[] = [];
    const left: Arrival[] = [];
    for (const arrival of this.#waiting) {
      if (!arrival.isHeld) continue;
      if (arrival.dueAt <= now && takes(arrival)) taken.push(arrival);
      else left.push(arrival);
    }
    this.#waiting = left;
    return taken;
  }

  /** Keeps a message until it is due. */
  keep(arrival: Arrival): void {
    if (!this.#isOn) return this.#options.onLate(arrival);
    let place = this.#waiting.length;
    while (place > 0 && inDueOrder(this.#waiting[place - 1] as Arrival, arrival) > 0) place--;
    this.#waiting.splice(place, 0, arrival);
    this.#options.onArrival(arrival.dueAt);
  }

  /** Resolves when the broker answers on the channel of this stream. */
  async ping(): Promise<void> {
    await this.#channel?.checkQueue(this.#options.work);
  }

  /** Has the broker hand out nothing more, and gives what was not taken. Those that are being worked on stay as they are. */
  async stop(): Promise<Arrival[]> {
    await this.#starting.catch(() => {});
    const [connection, channel, tag] = [this.#connection, this.#channel, this.#tag];
    this.#isOn = false;
    this.#tag = undefined;
    this.#ahead = 0;
    if (connection?.alive && channel !== undefined && tag !== undefined) {
      await this.#endConsumer(connection, channel, tag).catch(() => {});
    }
    const left = this.#waiting.filter((arrival) => arrival.isHeld);
    this.#waiting = [];
    return left;
  }

  /** Gives the channel back as soon as nothing that came over it is open. */
  async end(): Promise<Arrival[]> {
    const left = await this.stop();
    const [connection, channel] = [this.#connection, this.#channel];
    this.#channel = undefined;
    if (connection === undefined || channel === undefined) return left;
    this.#onEmpty = () => {
      this.#onEmpty = () => {};
      connection.giveBack(channel);
    };
    if (this.#open.size === 0) this.#onEmpty();
    return left;
  }

  #onEmpty: () => void = () => {};

  async #start(connection: BrokerConnection, room: number): Promise<void> {
    const isNew = connection !== this.#connection || this.#channel === undefined;
    if (isNew) {
      this.#waiting = [];
      this.#open.clear();
      this.#connection = connection;
      this.#channel = await connection.borrowChannel();
    }
    this.#isOn = true;
    const channel = this.#channel as Channel;
    // The room of a consumer that has nothing yet; what it works on counts until it is acknowledged. Not more when it has room
    // while it settles: for that it would have to begin anew.
    const ahead = Math.min(Math.max(this.#ahead, room, 1), mostAhead);
    if (!isNew && this.#tag !== undefined && ahead <= this.#ahead) return;
    try {
      // A prefetch holds for the consumers that begin after it.
      if (!isNew && this.#tag !== undefined) await this.#endConsumer(connection, channel, this.#tag);
      await channel.prefetch(ahead);
      this.#ahead = ahead;
      const { consumerTag } = await channel.consume(this.#options.work, (message) =>
        this.#arrive(connection, channel, message),
      );
      this.#tag = consumerTag;
    } catch (error) {
      const failure = connection.explained(error);
      connection.drop(failure);
      throw failure;
    }
  }

  #endConsumer(connection: BrokerConnection, channel: Channel, tag: string): Promise<void> {
    return endConsumer(channel, tag, this.#options.clock, (message) => this.#arrive(connection, channel, message));
  }

  #arrive(connection: BrokerConnection, channel: Channel, message: Message | null): void {
    if (message === null) {
      connection.drop(
        new PunctualError("not-sent", `The queue ${this.#options.work} was deleted, or its node went away.`),
      );
      return;
    }
    const arrival = new Arrival(connection, channel, message, () => {
      this.#open.delete(arrival);
      if (this.#open.size === 0) this.#onEmpty();
    });
    this.#open.add(arrival);
    if (this.#options.keeps(arrival)) this.keep(arrival);
  }
}
