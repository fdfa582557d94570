import { Lateness } from "./lateness.js";
import type { Plan } from "./scenario.js";

/** What became of the messages of one run. */
export interface Figures {
  /** Messages that the engine has confirmed. */
  readonly scheduled: number;
  /** Messages whose handler came to its end at least once. */
  readonly delivered: number;
  /** Deliveries that failed, as planned, and were to be retried. */
  readonly retried: number;
  /** Messages of which the engine said `cancelled`. */
  readonly cancelled: number;
  /** Messages that were neither delivered nor cancelled. */
  readonly lost: number;
  /** Messages that came to their end more than once: delivered again, or delivered although they were cancelled. */
  readonly duplicated: number;
  /** Deliveries that started before the due time by the clock of the engine. */
  readonly early: number;
  /** Of all deliveries, the failed ones too. */
  readonly lateness: Lateness;
  /** From the first schedule until all was accounted for. */
  readonly seconds: number;
}

const scheduledBit = 1;
const deliveredBit = 2;
const cancelledBit = 4;
const duplicatedBit = 8;

/**
 * Keeps account of every message of a run. Each must come to its end exactly once: either a handler returns, or the engine
 * says `cancelled`.
 */
export class Ledger {
  readonly #plan: Plan;
  readonly #marks: Uint8Array;
  readonly #lateness: number[] = [];
  #scheduled = 0;
  #delivered = 0;
  #retried = 0;
  #cancelled = 0;
  #duplicated = 0;
  #early = 0;
  #ended = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#marks = new Uint8Array(plan.dueAt.length);
  }

  /** Messages that the engine has confirmed. */
  get scheduled(): number {
    return this.#scheduled;
  }

  /** Messages that were delivered or cancelled. */
  get ended(): number {
    return this.#ended;
  }

  /** The engine has confirmed a message. */
  confirm(number: number): void {
    if (this.#mark(number, scheduledBit)) this.#scheduled += 1;
  }

  /**
   * A handler starts at `now`, which is the latest time that it can be by the clock of the engine: lateness is never
   * flattered, and what is called early was early.
   */
  start(number: number, dueAt: number, now: number): void {
    // The due time asked for counts too, so that an engine cannot be on time by storing another one.
    const asked = this.#plan.dueAt[number] ?? dueAt;
    if (now < Math.max(asked, dueAt)) this.#early += 1;
    this.#lateness.push(Math.max(0, now - dueAt));
    if (this.#has(number, deliveredBit | cancelledBit)) this.#duplicate(number);
  }

  /** A handler fails, as planned. */
  fail(): void {
    this.#retried += 1;
  }

  /** A handler returns. */
  finish(number: number): void {
    if (!this.#mark(number, deliveredBit)) {
      this.#duplicate(number);
      return;
    }
    this.#delivered += 1;
    if (this.#has(number, cancelledBit)) this.#duplicate(number);
    else this.#ended += 1;
  }

  /** The engine says that it has cancelled a message. `leased` and `absent` promise nothing: such a message is delivered. */
  cancel(number: number): void {
    if (!this.#mark(number, cancelledBit)) return;
    this.#cancelled += 1;
    if (this.#has(number, deliveredBit)) this.#duplicate(number);
    else this.#ended += 1;
  }

  /** The account. `left` is how many messages the engine still has when no consumer works any more. */
  close(left: number, seconds: number): Figures {
    const lost = this.#scheduled - this.#ended;
    // What lies there although it has come to its end would be delivered again.
    const repeated = Math.max(0, left - lost);
    return {
      scheduled: this.#scheduled,
      delivered: this.#delivered,
      retried: this.#retried,
      cancelled: this.#cancelled,
      lost,
      duplicated: this.#duplicated + repeated,
      early: this.#early,
      lateness: new Lateness(this.#lateness),
      seconds,
    };
  }

  #has(number: number, bits: number): boolean {
    return ((this.#marks[number] ?? 0) & bits) !== 0;
  }

  /** Sets a mark; false when it was set already. */
  #mark(number: number, bit: number): boolean {
    const marks = this.#marks[number];
    if (marks === undefined || (marks & bit) !== 0) return false;
    this.#marks[number] = marks | bit;
    return true;
  }

  #duplicate(number: number): void {
    if (this.#mark(number, duplicatedBit)) this.#duplicated += 1;
  }
}
