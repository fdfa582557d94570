import type { CancelTimer, Clock } from "../clock.js";
import type { EngineQueue, Extension, Receipt } from "../engine.js";
import { PunctualError } from "../errors.js";
import { resultsOf } from "../partial-results.js";
import { quote } from "../quote.js";
import { BackOff } from "./back-off.js";
import { type Placed, PlacedSet } from "./placed-set.js";

/** A lease that is to be kept as long as it is `held`. */
export interface KeptLease extends Receipt, Placed {
  leaseUntil: number;
  readonly state: string;
  /** Somebody else extends it just now. */
  readonly isExtending?: boolean;
}

export interface LeaseKeeperOptions<Lease> {
  readonly queue: EngineQueue;
  /** How long an extended lease lasts, ms. */
  readonly lease: number;
  readonly random: () => number;
  /** Told once of each lease that ended although it was to be kept; must change its state. */
  readonly onLost: (lease: Lease, error: PunctualError) => void;
}

/**
 * Extends all leases of a consumer with one timer and one call, when a third of the first one is over. A call that fails
 * is repeated with back-off; a lease whose end passes without a confirmed extension is lost, whatever the store says later,
 * because somebody else may have the message by then.
 */
export class LeaseKeeper<Lease extends KeptLease> {
  readonly #queue: EngineQueue;
  readonly #clock: Clock;
  readonly #lease: number;
  readonly #onLost: (lease: Lease, error: PunctualError) => void;
  readonly #kept = new PlacedSet<Lease>();
  readonly #backOff: BackOff;
  #cancelTimer: CancelTimer | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #extending = false;
  #letsRun = false;
  /** A call failed: there is a pause before the next one. */
  #isPausing = false;
  #cancelPause: CancelTimer | undefined;
  #lastFailure: unknown;

  constructor(options: LeaseKeeperOptions<Lease>) {
    this.#queue = options.queue;
    this.#clock = options.queue.clock;
    this.#lease = options.lease;
    this.#onLost = options.onLost;
    this.#backOff = new BackOff(this.#clock, options.random);
  }

  /** How many leases it looks after. */
  get size(): number {
    return this.#kept.size;
  }

  /** The leases it looks after, in the order in which they were added. */
  [Symbol.iterator](): IterableIterator<Lease> {
    return this.#kept[Symbol.iterator]();
  }

  add(lease: Lease): void {
    this.#kept.add(lease);
    this.#armFor(lease);
  }

  remove(lease: Lease): void {
    this.#kept.delete(lease);
    // A consumer takes its next message at once, and sets no timer anew for that; whoever lets leases run may be done, and
    // a timer would keep the process alive.
    if (this.#letsRun && this.#kept.size === 0) this.#disarm();
  }

  /** Extends nothing from now on: leases end at their time, unless somebody else extends them, and are then lost. */
  letRun(): void {
    this.#letsRun = true;
    this.#endPause();
    if (!this.#extending) this.#armForAll();
  }

  /** A lease was extended by somebody else, to a later or earlier end, or was not: then its end is as before. */
  extended(lease: Lease, leaseUntil: number): void {
    lease.leaseUntil = leaseUntil;
    if (this.#kept.has(lease)) this.#armFor(lease);
  }

  /**
   * Looks at once when the timer is due, or by this time of the engine would be: before a new delivery of a message starts
   * here, the one whose lease has ended is told.
   */
  look(now: number): void {
    if (this.#timerAt <= now) this.#tick(now);
  }

  /** Forgets all leases, which end at their time. */
  stop(): void {
    this.#kept.clear();
    this.#disarm();
    this.#endPause();
  }

  /** When this lease needs the timer: to be extended, and to be lost. */
  #needsTimerAt(lease: Lease): number {
    if (this.#extending || this.#letsRun || this.#isPausing || lease.isExtending) return lease.leaseUntil;
    return lease.leaseUntil - (this.#lease * 2) / 3;
  }

  #armFor(lease: Lease): void {
    const at = this.#needsTimerAt(lease);
    if (at < this.#timerAt) this.#armAt(at);
  }

  #armAt(at: number): void {
    this.#disarm();
    if (at === Number.POSITIVE_INFINITY) return;
    this.#timerAt = at;
    this.#cancelTimer = this.#clock.runAt(at, () => this.#tick(this.#clock.now()));
  }

  #disarm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
  }

  #tick(now: number): void {
    this.#disarm();
    let isDue = false;
    for (const lease of this.#kept) {
      if (lease.state !== "held") continue;
      if (lease.leaseUntil <= now) this.#onLost(lease, this.#ended(lease));
      else if (this.#needsTimerAt(lease) <= now) isDue = true;
    }
    if (isDue) void this.#extend(now);
    else this.#armForAll();
  }

  #armForAll(): void {
    let first = Number.POSITIVE_INFINITY;
    for (const lease of this.#kept) {
      if (lease.state === "held") first = Math.min(first, this.#needsTimerAt(lease));
    }
    this.#armAt(first);
  }

  async #extend(now: number): Promise<void> {
    // All whose end this moves back, not only those that are due, so that there is one call for all; those that a handler
    // extended beyond that keep their end, and so do those that it extends just now: this call could run after that one.
    const leases: Lease[] = [];
    const ends: number[] = [];
    for (const lease of this.#kept) {
      if (lease.state !== "held" || lease.isExtending || lease.leaseUntil >= Math.ceil(now + this.#lease)) continue;
      leases.push(lease);
      ends.push(lease.leaseUntil);
    }
    this.#extending = true;
    this.#armForAll();
    try {
      this.#apply(leases, ends, await this.#queue.extend(leases, this.#lease));
      this.#lastFailure = undefined;
      this.#backOff.reset();
    } catch (failure) {
      this.#lastFailure = failure;
      this.#apply(leases, ends, resultsOf<Extension>(failure));
      const isFinal = failure instanceof PunctualError && failure.code === "closed";
      this.#pause(isFinal);
    }
    this.#extending = false;
    this.#armForAll();
  }

  /** Extends nothing for a while, or for ever. By what elapses: a clock that is set back must not cost the leases. */
  #pause(forEver: boolean): void {
    if (this.#letsRun || this.#kept.size === 0) return;
    this.#isPausing = true;
    if (forEver) return;
    this.#cancelPause = this.#clock.runAfter(this.#backOff.nextDelay(), () => {
      this.#endPause();
      this.#armForAll();
    });
  }

  #endPause(): void {
    this.#cancelPause?.();
    this.#cancelPause = undefined;
    this.#isPausing = false;
  }

  /** `ends`: of the leases, when the call was made. */
  #apply(leases: readonly Lease[], ends: readonly number[], extensions: readonly (Extension | undefined)[]): void {
    leases.forEach((lease, place) => {
      const extension = extensions[place];
      // What was settled meanwhile has no lease any more, and that is right.
      if (extension === undefined || lease.state !== "held") return;
      if (extension.outcome === "extended") {
        // One that was extended by hand meanwhile keeps that end: an engine makes several calls of many leases, so this answer
        // may be the older one.
        if (lease.leaseUntil === ends[place]) lease.leaseUntil = extension.leaseUntil;
      } else this.#onLost(lease, this.#ended(lease));
    });
  }

  #ended(lease: Lease): PunctualError {
    return new PunctualError("lease-lost", `The lease on message ${quote(lease.id)} ended while it was worked on.`, {
      ...(this.#lastFailure === undefined ? {} : { cause: this.#lastFailure }),
      details: { id: lease.id },
    });
  }
}
