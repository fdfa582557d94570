import type { CancelTimer, Clock } from "../../clock.js";
import type { BurialReason, ClaimRequest, Extension, Receipt } from "../../engine.js";
import type { Arrival } from "./arrival.js";
import { type Lease, Leases } from "./leases.js";
import type { Places } from "./places.js";
import type { Sender } from "./sender.js";
import { type Fate, Settling } from "./settling.js";

export interface LeasingOptions {
  readonly sender: Sender;
  readonly places: Places;
  readonly clock: Clock;
}

/** What a claim gave. */
interface Granted {
  readonly leases: readonly Lease[];
  readonly until: number;
  readonly buried: readonly { readonly id: string; readonly reason: BurialReason }[];
}

/**
 * Gives leases, and ends those whose time is over. The broker knows no time of a lease: it takes a message back when the
 * connection of its consumer ends, and not before. So who forgets a message while its process lives is found out here.
 */
export class Leasing {
  readonly leases = new Leases();
  readonly settling: Settling;
  readonly #sender: Sender;
  readonly #clock: Clock;
  /** Those that were buried because their last lease ended, and that no claim has told of yet. */
  #untold: { id: string; reason: BurialReason }[] = [];
  #endsAt = Infinity;
  #cancelTimer: CancelTimer = () => {};
  #lapsing: Promise<void> = Promise.resolve();
  #closed = false;

  constructor({ sender, places, clock }: LeasingOptions) {
    this.#sender = sender;
    this.#clock = clock;
    const keep = (lease: Lease) => {
      this.leases.add(lease);
      // It may have ended meanwhile, when nobody found it.
      this.#planAt(lease.until);
    };
    this.settling = new Settling({ leases: this.leases, sender, places, clock, keep });
  }

  /** Resolves when all that has ended by now is back in the broker. */
  async settled(): Promise<void> {
    if (this.#endsAt <= this.#clock.now()) this.#look();
    await this.#lapsing;
  }

  /** Leases what has come. What may not be delivered any more is buried instead. */
  async grant(arrivals: readonly Arrival[], { token, lease, attempts: limit }: ClaimRequest): Promise<Granted> {
    const now = this.#clock.now();
    const until = Math.floor(now + lease);
    const leases: Lease[] = [];
    const burials: { arrival: Arrival; reason: BurialReason }[] = [];
    for (const arrival of arrivals) {
      // How often a quorum queue has taken a message back says nothing: it counts what nobody has worked on, when a consumer
      // closes as when a broker does, which ends one connection after the other and hands the message on to all of them.
      const { failures, attempts = limit, expiresAt = Infinity } = arrival.envelope;
      if (Math.floor(now) > expiresAt) burials.push({ arrival, reason: "expired" });
      else if (failures >= attempts) burials.push({ arrival, reason: "attempts" });
      else leases.push({ arrival, token, attempt: failures + 1, attempts, until });
    }
    for (const one of leases) this.leases.add(one);
    if (leases.length > 0) this.#planAt(until);
    await this.#bury(burials, now);
    const buried = [...this.#untold, ...burials.map(({ arrival: { id }, reason }) => ({ id, reason }))];
    this.#untold = [];
    return { leases, until, buried };
  }

  extend(receipts: readonly Receipt[], duration: number): Extension[] {
    const now = this.#clock.now();
    const until = Math.floor(now + duration);
    return receipts.map((receipt) => {
      const lease = this.leases.held(receipt);
      if (lease === undefined || lease.until <= now) return { outcome: "lease-lost" };
      lease.until = until;
      this.#planAt(until);
      return { outcome: "extended", leaseUntil: until };
    });
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer();
  }

  async #bury(burials: readonly { arrival: Arrival; reason: string }[], now: number): Promise<void> {
    if (burials.length === 0) return;
    const parcels = burials.map(({ arrival, reason }) => this.settling.buried(arrival.envelope, reason, now));
    const { confirmed, failure } = await this.#sender.trySending(parcels);
    for (const [index, { arrival }] of burials.entries()) {
      if (confirmed[index]) arrival.acknowledge();
      else arrival.giveBack();
    }
    if (failure !== undefined) throw failure;
  }

  /** One timer for all leases. It is only moved to an earlier time; one that comes too early looks again later. */
  #planAt(time: number): void {
    if (time >= this.#endsAt || this.#closed) return;
    this.#cancelTimer();
    this.#endsAt = time;
    this.#cancelTimer = this.#clock.runAt(time, () => this.#look());
  }

  #look(): void {
    this.#cancelTimer();
    this.#endsAt = Infinity;
    const { ended, nextEnd } = this.leases.takeEnded(this.#clock.now());
    this.#planAt(nextEnd);
    const open = ended.filter(({ arrival }) => arrival.isHeld);
    if (open.length > 0) this.#lapsing = this.#lapsing.then(() => this.#lapse(open));
  }

  /** Puts back what nobody settled. What cannot be put back the broker takes back, without counting where it does not count. */
  async #lapse(leases: readonly Lease[]): Promise<void> {
    const fates = leases.map((lease): Fate => this.settling.lapsed(lease));
    const { confirmed } = await this.#sender.trySending(fates);
    for (const [index, { arrival }] of leases.entries()) {
      if (!confirmed[index]) arrival.giveBack();
      else if (arrival.acknowledge() && fates[index]?.envelope.buried !== undefined) {
        this.#untold.push({ id: arrival.id, reason: "attempts" });
      }
    }
  }
}
