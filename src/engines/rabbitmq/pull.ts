import type { CancelTimer, Clock } from "../../clock.js";
import { Arrival } from "./arrival.js";
import type { BrokerConnection, Channel } from "./broker-connection.js";
import type { Budget } from "./budget.js";

export interface PullOptions {
  /** The queue of the broker from which it takes. */
  readonly work: string;
  readonly clock: Clock;
  /** Waits for an answer of the broker; fails when there is none. */
  readonly answered: <T>(connection: BrokerConnection, call: Promise<T>) => Promise<T>;
  /** Whether a message that has come is to be given to somebody soon; else it is seen to. */
  readonly keeps: (arrival: Arrival) => boolean;
  /** Puts back what nobody asked for in time. */
  readonly giveBack: (arrivals: readonly Arrival[]) => Promise<void>;
}

/** Up to so many are asked for one by one; a quorum queue writes to its disk for each. */
const fewAtMost = 4;
/** How many are asked for together: at first, since they may be large, and then twice as many each time. */
const firstRound = 16;
/** If the broker hands out nothing more for so long, others have taken it, ms. */
const silence = 100;
/** What was handed out and is more than a claim may take waits so long for the next claim, ms. */
const shelfTime = 1_000;

/** Takes what lies in a queue of the broker for those who ask once and do not wait for more. */
export class Pull {
  readonly #options: PullOptions;
  /** What came and was more than its claim could take. */
  #shelf: Arrival[] = [];
  #cancelTimer: CancelTimer = () => {};
  /** One at a time: a prefetch holds for the next consumer of a channel, whosoever that is. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: PullOptions) {
    this.#options = options;
  }

  /** How many wait for the next claim. */
  get size(): number {
    return this.#shelf.length;
  }

  /** Takes as much as `budget` allows; says whether there is more. */
  take(connection: BrokerConnection, budget: Budget): Promise<{ arrivals: Arrival[]; isMoreDue: boolean }> {
    const taking = this.#last.then(() => this.#take(connection, budget));
    this.#last = taking.catch(() => {});
    return taking;
  }

  /** What nobody asks for any more. */
  close(): void {
    this.#cancelTimer();
  }

  async #take(connection: BrokerConnection, budget: Budget): Promise<{ arrivals: Arrival[]; isMoreDue: boolean }> {
    const { work, answered } = this.#options;
    const channel = await answered(
      connection,
      connection.once("pull", () => connection.channel()),
    );
    const arrivals: Arrival[] = [];
    const choose = (come: readonly Arrival[]) => {
      for (const arrival of come) {
        if (!arrival.isHeld) continue;
        if (budget.takes(arrival)) arrivals.push(arrival);
        else this.#shelf.push(arrival);
      }
    };
    choose(this.#shelf.splice(0));
    for (let round = firstRound; ; round *= 2) {
      const ready = (await answered(connection, channel.checkQueue(work))).messageCount;
      const count = Math.min(ready, budget.left, round);
      if (count === 0 || this.#shelf.length > 0) {
        this.#planReturn();
        return { arrivals, isMoreDue: ready + this.#shelf.length > 0 };
      }
      const come =
        count <= fewAtMost ? this.#ask(connection, channel, count) : this.#receive(connection, channel, count);
      choose((await come).filter((arrival) => this.#options.keeps(arrival)));
    }
  }

  /** One by one. */
  async #ask(connection: BrokerConnection, channel: Channel, count: number): Promise<Arrival[]> {
    const come: Arrival[] = [];
    for (let left = count; left > 0; left--) {
      const message = await this.#options.answered(connection, channel.get(this.#options.work));
      if (message === false) break;
      come.push(new Arrival(connection, channel, message));
    }
    return come;
  }

  /** Many together, as a consumer that ends when it has them. */
  async #receive(connection: BrokerConnection, channel: Channel, count: number): Promise<Arrival[]> {
    const { answered, work, clock } = this.#options;
    const come: Arrival[] = [];
    await answered(connection, channel.prefetch(count));
    let hear: () => void = () => {};
    const consuming = channel.consume(work, (message) => {
      // One that is no message says that the queue was deleted; the next question says that, too.
      if (message !== null) come.push(new Arrival(connection, channel, message));
      hear();
    });
    const { consumerTag } = await answered(connection, consuming);
    for (let before = -1; come.length < count && come.length > before;) {
      before = come.length;
      await new Promise<void>((resolve) => {
        const cancel = clock.runAfter(silence, resolve);
        hear = () => {
          if (come.length < count) return;
          cancel();
          resolve();
        };
      });
    }
    await answered(connection, channel.cancel(consumerTag));
    return come;
  }

  /** What lies here is not in the broker, so nobody else gets it. */
  #planReturn(): void {
    this.#cancelTimer();
    if (this.#shelf.length === 0) return;
    this.#cancelTimer = this.#options.clock.runAfter(shelfTime, () => {
      void this.#options.giveBack(this.#shelf.splice(0).filter((arrival) => arrival.isHeld));
    });
  }
}
