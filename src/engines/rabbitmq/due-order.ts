import type { Clock } from "../../clock.js";

/** What messages are put in order by. */
export interface Ordered {
  readonly dueAt: number;
  /** When it was scheduled; see `Turns`. */
  readonly turn: number;
}

/** Negative when `a` is to be delivered before `b`: by due time, and then in the order of scheduling. */
export function inDueOrder(a: Ordered, b: Ordered): number {
  return a.dueAt - b.dueAt || a.turn - b.turn;
}

/** As many turns as one ms has. With more the numbers would soon be too large to be told apart. */
const turnsAMs = 1_024;

/**
 * Numbers that grow with each message that this process schedules. A broker keeps no order among messages that went down its
 * ladder one after the other; those that a consumer gets together are put in order by these. They come from the clock, so that
 * they compare with those of other producers as well as their clocks do.
 */
export class Turns {
  readonly #clock: Clock;
  #last = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  next(): number {
    this.#last = Math.max(this.#last + 1, Math.floor(this.#clock.now() * turnsAMs));
    return this.#last;
  }
}
