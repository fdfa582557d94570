import type { CancelTimer, Clock } from "../clock.js";

/** How long what a claim may take is set aside, ms. A store that has not answered by then may be out of reach. */
const setAsideFor = 250;

/** What one of those that share a room has taken of it. */
export interface RoomShare {
  readonly clock: () => Clock;
  /** Handlers at work. */
  readonly active: () => number;
  /** Messages under a lease, those included that are being settled. */
  readonly held: () => number;
  /** There is more room than before. */
  readonly onRoom: () => void;
}

/**
 * Shares the room of one consumer among those that claim for it. Handlers may be at work, or settlements under way: twice
 * the concurrency in all at most, so that settling slowly does not gather messages without end. What claims under way may
 * take is set aside for 250 ms, and none asks for more than its part, so that no partition starves another. What comes later
 * than that, and finds the room taken, has to go back.
 */
export class SharedRoom {
  readonly #concurrency: number;
  readonly #shares: RoomShare[] = [];
  readonly #claiming = new Map<RoomShare, { readonly limit: number; readonly cancelTimer: CancelTimer }>();

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  join(share: RoomShare): void {
    this.#shares.push(share);
  }

  /** How many messages this one may claim now. */
  roomFor(share: RoomShare): number {
    const concurrency = this.#concurrency;
    let free = concurrency;
    let unsettled = 2 * concurrency;
    for (const other of this.#shares) {
      const claiming = other === share ? 0 : (this.#claiming.get(other)?.limit ?? 0);
      free -= other.active() + claiming;
      unsettled -= other.held() + claiming;
    }
    return Math.min(free, unsettled, Math.ceil(concurrency / this.#shares.length));
  }

  /** A claim of this one goes out; until it is answered, fails or takes long, nobody else gets what it may take. */
  claims(share: RoomShare, limit: number): void {
    if (limit === 0 || this.#shares.length === 1) return;
    const cancelTimer = share.clock().runAfter(setAsideFor, () => this.ended(share));
    this.#claiming.set(share, { limit, cancelTimer });
  }

  /** Its claim was answered or has failed; what one brings that is answered later may be more than there is room for. */
  ended(share: RoomShare): void {
    const claim = this.#claiming.get(share);
    if (claim === undefined) return;
    claim.cancelTimer();
    this.#claiming.delete(share);
    this.roomMade(share);
  }

  /** One is done with a message; the others are asked first whether they wait for room. */
  roomMade(share: RoomShare): void {
    const place = this.#shares.indexOf(share) + 1;
    for (let step = 0; step < this.#shares.length; step++) {
      this.#shares[(place + step) % this.#shares.length]?.onRoom();
    }
  }
}
