import type { Clock } from "../../clock.js";
import type { DeadLetterBounds } from "../../dead-letter-bounds.js";
import { PunctualError } from "../../errors.js";
import { Duty } from "./duty.js";
import { LastClaims } from "./last-claims.js";
import { MessageStore } from "./message-store.js";

/** How every queue of a memory engine is kept. */
export interface KeepingOptions {
  readonly clock: Clock;
  /** After how many ms a consumer claims again although nothing is known to be due. */
  readonly poll: number;
  readonly deadLetters: DeadLetterBounds;
}

/** What the memory engine keeps of one queue. All who open the queue work on the same. */
export class KeptQueue {
  readonly clock: Clock;
  readonly store: MessageStore;
  readonly duty: Duty;
  readonly lastClaims = new LastClaims();
  paused = false;
  #closed: PunctualError | undefined;

  constructor({ clock, poll, deadLetters }: KeepingOptions) {
    this.clock = clock;
    this.store = new MessageStore(deadLetters);
    this.duty = new Duty({ poll, clock, nextWork: () => this.nextWork() });
  }

  /** With what every call is refused, once the engine is closed. */
  get closed(): PunctualError | undefined {
    return this.#closed;
  }

  /** From now on every call is refused, and whoever waits is told. */
  close(): void {
    if (this.#closed !== undefined) return;
    this.#closed = new PunctualError("closed", "The memory engine was closed; make a new one.");
    this.duty.close(this.#closed);
  }

  /** When a claim would find something: to take, unless the queue is paused, or to reclaim. */
  nextWork(): number {
    return Math.min(this.paused ? Infinity : this.store.nextDue(), this.store.nextLeaseEnd());
  }
}
