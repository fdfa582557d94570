import type { Receipt } from "../../engine.js";
import type { Arrival } from "./arrival.js";

/** A message that somebody works on. */
export interface Lease {
  readonly arrival: Arrival;
  readonly token: string;
  /** Which delivery it is, from 1. */
  readonly attempt: number;
  /** Deliveries at most, fixed for this lease. */
  readonly attempts: number;
  until: number;
}

/**
 * The leases that this process has given. That nobody else gets the message is the work of the broker; when the lease of one
 * that is still here ends is decided here.
 */
export class Leases {
  readonly #byToken = new Map<string, Map<string, Lease>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The leases of a claim that are still held. */
  ofToken(token: string): Lease[] {
    return Array.from(this.#byToken.get(token)?.values() ?? []).filter((lease) => this.#isHeld(lease));
  }

  /** Whether this claim has a message of this id; the broker may hold several. */
  has(token: string, id: string): boolean {
    return this.#byToken.get(token)?.has(id) === true;
  }

  add(lease: Lease): void {
    const leases = this.#byToken.get(lease.token) ?? new Map<string, Lease>();
    this.#byToken.set(lease.token, leases);
    leases.set(lease.arrival.id, lease);
    this.#size += 1;
  }

  /** The lease of a receipt, if it has not ended. */
  held({ token, id }: Receipt): Lease | undefined {
    const lease = this.#byToken.get(token)?.get(id);
    return lease !== undefined && this.#isHeld(lease) ? lease : undefined;
  }

  /** Takes a lease off: it is being settled, or has ended. Put back with `add` if that fails. */
  remove({ token, arrival }: Lease): void {
    const leases = this.#byToken.get(token);
    if (leases?.delete(arrival.id) !== true) return;
    this.#size -= 1;
    if (leases.size === 0) this.#byToken.delete(token);
  }

  /** Takes off those whose time is over; says when the next one ends, `Infinity` when none is held. */
  takeEnded(now: number): { ended: Lease[]; nextEnd: number } {
    const ended: Lease[] = [];
    let nextEnd = Infinity;
    for (const leases of this.#byToken.values()) {
      for (const lease of leases.values()) {
        if (lease.until <= now) ended.push(lease);
        else nextEnd = Math.min(nextEnd, lease.until);
      }
    }
    for (const lease of ended) this.remove(lease);
    return { ended, nextEnd };
  }

  /** The broker has taken back what came over a connection that is lost. */
  #isHeld(lease: Lease): boolean {
    if (lease.arrival.isHeld) return true;
    this.remove(lease);
    return false;
  }
}
