import type { CancelTimer, Clock } from "../../clock.js";
import type { Arrival } from "./arrival.js";
import type { BrokerConnection } from "./broker-connection.js";
import type { Budget } from "./budget.js";
import { inDueOrder } from "./due-order.js";
import { handOut } from "./hand-out.js";

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

/** How many are asked for together: at first, since they may be large, and then twice as many each time. */
const firstRound = 16;
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
    const { work, clock, answered } = this.#options;
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
        return { arrivals: arrivals.sort(inDueOrder), isMoreDue: ready + this.#shelf.length > 0 };
      }
      const come = await handOut(connection, channel, count, { queue: work, clock, answered });
      choose(come.filter((arrival) => this.#options.keeps(arrival)));
    }
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
