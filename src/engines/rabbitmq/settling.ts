import type { Clock } from "../../clock.js";
import type { BurialReason, FailureRecord, Receipt, Settlement } from "../../engine.js";
import { sameFailure } from "../../partial-results.js";
import type { Envelope } from "./envelope.js";
import type { Lease, Leases } from "./leases.js";
import type { Place, Places } from "./places.js";
import type { Parcel, Sender } from "./sender.js";

export interface SettlingOptions {
  readonly leases: Leases;
  readonly sender: Sender;
  readonly places: Places;
  readonly clock: Clock;
  /** Takes a lease back on the books, whose message could not be put anywhere. */
  readonly keep: (lease: Lease) => void;
}

/** What becomes of a message: what is written down of it anew, and where it goes. */
export interface Fate {
  readonly envelope: Envelope;
  readonly place: (now: number) => Place;
}

/**
 * Ends leases. A broker changes nothing in a message that it has: whatever is to come again with another count or time is put
 * into the broker anew, and only then is the delivery acknowledged. A crash in between leaves two, and never none.
 */
export class Settling {
  readonly #options: SettlingOptions;

  constructor(options: SettlingOptions) {
    this.#options = options;
  }

  acknowledge(receipts: readonly Receipt[]): Settlement[] {
    return receipts.map((receipt) => {
      const lease = this.#options.leases.held(receipt);
      if (lease === undefined) return "lease-lost";
      this.#options.leases.remove(lease);
      return lease.arrival.acknowledge() ? "settled" : "lease-lost";
    });
  }

  /** Ends the leases of receipts with what `fate` says. Fails with `details.results` when some could not be put back. */
  async move<R extends Receipt>(
    receipts: readonly R[],
    fate: (lease: Lease, receipt: R) => Fate,
  ): Promise<Settlement[]> {
    const results: (Settlement | undefined)[] = receipts.map(() => "lease-lost");
    const moves: { readonly index: number; readonly lease: Lease; readonly parcel: Parcel }[] = [];
    for (const [index, receipt] of receipts.entries()) {
      const lease = this.#options.leases.held(receipt);
      if (lease === undefined) continue;
      // Off the books at once, so that it does not end by itself while it is on its way.
      this.#options.leases.remove(lease);
      moves.push({ index, lease, parcel: fate(lease, receipt) });
    }
    const { confirmed, failure } = await this.#options.sender.trySending(moves.map(({ parcel }) => parcel));
    for (const [place, { index, lease }] of moves.entries()) {
      results[index] = confirmed[place] ? "settled" : undefined;
      if (confirmed[place]) lease.arrival.acknowledge();
      else this.#options.keep(lease);
    }
    if (failure !== undefined) throw sameFailure(failure, { ...failure.details, results });
    return results as Settlement[];
  }

  /** A delivery failed: it is due again after `delay`, or dead when that was the last attempt. */
  failed(lease: Lease, delay: number, error: FailureRecord | undefined, now: number): Fate {
    const envelope = this.#used(lease, error, now);
    if (lease.attempt >= lease.attempts) return this.buried(envelope, "attempts", now);
    return this.#later({ ...envelope, dueAt: Math.ceil(now + delay) });
  }

  /** A lease has ended by itself: the message is due as of its end. */
  lapsed(lease: Lease): Fate {
    const envelope = this.#used(lease, undefined, lease.until);
    if (lease.attempt >= lease.attempts) return this.buried(envelope, "attempts", lease.until);
    return this.#later({ ...envelope, dueAt: lease.until });
  }

  /** Nobody worked on it: no attempt is used. */
  released({ arrival }: Lease, delay: number | undefined): Fate {
    const { envelope } = arrival;
    if (delay === undefined) return this.#later(envelope);
    return this.#later({ ...envelope, dueAt: Math.ceil(this.#options.clock.now() + delay) });
  }

  /** A handler wants no more of it; the delivery counts. */
  givenUp(lease: Lease, reason: string, error: FailureRecord | undefined): Fate {
    const now = this.#options.clock.now();
    return this.buried(this.#used(lease, error, now), reason, now);
  }

  /** It goes to the dead letters. */
  buried(envelope: Envelope, reason: BurialReason | (string & {}), at: number): Fate {
    const { places } = this.#options;
    return { envelope: { ...envelope, buried: { reason, at: Math.floor(at) } }, place: () => places.dead() };
  }

  #used({ arrival, attempt }: Lease, error: FailureRecord | undefined, at: number): Envelope {
    const { envelope } = arrival;
    const lastError = error === undefined ? envelope.lastError : { ...error, at: Math.floor(at) };
    return { ...envelope, failures: attempt, lastError };
  }

  #later(envelope: Envelope): Fate {
    return { envelope, place: (now) => this.#options.places.waiting(envelope.dueAt - now) };
  }
}
