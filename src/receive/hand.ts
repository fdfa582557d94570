import type { Clock } from "../clock.js";
import type { Codec } from "../codec.js";
import type { ConsumeSettings } from "../consumer/consume-options.js";
import { LeasedDelivery } from "../consumer/delivery.js";
import { EventEmitter } from "../consumer/events.js";
import type { LeaseKeeper } from "../consumer/lease-keeper.js";
import type { Settler } from "../consumer/settle.js";
import { Settlements } from "../consumer/settlements.js";
import type { ClaimResult, EngineQueue } from "../engine.js";
import { PunctualError } from "../errors.js";
import { decodePayload } from "../message.js";

export interface HandOptions<Payload> {
  readonly queue: EngineQueue;
  readonly codec: Codec<Payload>;
  readonly settings: Pick<ConsumeSettings, "lease" | "backoff">;
  readonly settler: Settler;
  readonly keeper: LeaseKeeper<LeasedDelivery<Payload>>;
  /** This one is no longer held. */
  readonly onEnd?: ((delivery: LeasedDelivery<Payload>) => void) | undefined;
  /** One more was settled, lost, or confirmed to be settled. */
  readonly onRoom?: (() => void) | undefined;
}

/** Deliveries that no handler runs for: whoever holds them settles them by hand, and nothing else does. */
export class Hand<Payload> {
  readonly #clock: Clock;
  readonly #codec: Codec<Payload>;
  readonly #settler: Settler;
  readonly #keeper: LeaseKeeper<LeasedDelivery<Payload>>;
  readonly #settlements: Settlements<Payload>;
  readonly #onEnd: (delivery: LeasedDelivery<Payload>) => void;
  readonly #onRoom: () => void;
  readonly #held = new Set<LeasedDelivery<Payload>>();
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: HandOptions<Payload>) {
    const { queue, settings, settler, keeper } = options;
    this.#clock = queue.clock;
    this.#codec = options.codec;
    this.#settler = settler;
    this.#keeper = keeper;
    // Nobody listens: who settles by hand is told by the promise, and the loss of a lease by the signal.
    this.#settlements = new Settlements({ queue, settler, events: new EventEmitter<Payload>(), settings, keeper });
    this.#onEnd = options.onEnd ?? (() => {});
    this.#onRoom = options.onRoom ?? (() => {});
  }

  /** How many are not settled. */
  get held(): number {
    return this.#held.size;
  }

  /** How many settlements are not confirmed. */
  get settling(): number {
    return this.#underWay.size;
  }

  /** Answered so late that its leases have ended: it must be handed back before the next claim, which would count it. */
  isTooLate({ messages, leaseUntil }: ClaimResult): boolean {
    return messages.length > 0 && leaseUntil <= this.#clock.now();
  }

  /** Takes what a claim brought. A payload that cannot be decoded goes to the dead letters instead. */
  hold(result: ClaimResult, token: string): LeasedDelivery<Payload>[] {
    const now = this.#clock.now();
    this.#keeper.look(Math.max(result.now, now));
    return result.messages
      .map((claimed) => new LeasedDelivery(claimed, token, result.leaseUntil, this.#settlements))
      .filter((delivery) => this.#begin(delivery, now));
  }

  /** Hands back what a claim brought too late. It is due again at once, and no attempt is used. Resolves when that is so. */
  handBack({ messages, leaseUntil }: ClaimResult, token: string): Promise<void> {
    for (const { id } of messages) this.#track(this.#settler.release({ id, token, leaseUntil }));
    return this.settled();
  }

  /** The same for deliveries that nobody has seen, or that came too late for their caller. */
  release(deliveries: Iterable<LeasedDelivery<Payload>>): void {
    for (const delivery of deliveries) {
      if (delivery.state === "held") void this.#settlements.handBack(delivery);
    }
  }

  /** Resolves when every settlement that was asked for so far has its answer. */
  async settled(): Promise<void> {
    // Those of this tick are not noted yet.
    await Promise.resolve();
    await Promise.all(this.#underWay);
  }

  #begin(delivery: LeasedDelivery<Payload>, now: number): boolean {
    delivery.onEnd = () => this.#ended(delivery);
    this.#held.add(delivery);
    try {
      delivery.begin(decodePayload(delivery.id, delivery.encodedPayload, this.#codec), now);
    } catch (error) {
      void this.#settlements.bury(delivery, "undecodable", error instanceof PunctualError ? error : undefined);
      return false;
    }
    this.#keeper.add(delivery);
    return true;
  }

  #ended(delivery: LeasedDelivery<Payload>): void {
    if (!this.#held.delete(delivery)) return;
    this.#keeper.remove(delivery);
    this.#onEnd(delivery);
    // Its settlement is there as soon as who asked for it goes on; one that was lost has none.
    this.#track(Promise.resolve().then(() => delivery.settlement));
    this.#onRoom();
  }

  #track(settlement: Promise<unknown>): void {
    const over = () => {
      this.#underWay.delete(tracked);
      this.#onRoom();
    };
    // What went wrong is known to who asked; of what was handed back the lease ends.
    const tracked: Promise<void> = settlement.then(over, over);
    this.#underWay.add(tracked);
  }
}
