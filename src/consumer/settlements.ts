import { Batcher } from "../batcher.js";
import { parseDuration } from "../duration.js";
import type { EngineQueue, Extension, Receipt } from "../engine.js";
import { asPunctualError, PunctualError } from "../errors.js";
import { quote } from "../quote.js";
import { exponentialBackoff } from "../retry/exponential.js";
import type { ConsumeSettings } from "./consume-options.js";
import type { DeliverySettler, LeasedDelivery } from "./delivery.js";
import type { EventEmitter } from "./events.js";
import { failureRecord } from "../failure-record.js";
import type { LeaseKeeper } from "./lease-keeper.js";
import type { Settler, SettleOutcome } from "./settle.js";

export interface SettlementsOptions<Payload> {
  readonly queue: EngineQueue;
  readonly settler: Settler;
  readonly events: EventEmitter<Payload>;
  readonly settings: Pick<ConsumeSettings, "lease" | "backoff">;
  readonly keeper: LeaseKeeper<LeasedDelivery<Payload>>;
  /** Hears when what was to be finished is settled, or cannot be. */
  readonly onFinished?: ((delivery: LeasedDelivery<Payload>) => void) | undefined;
}

/**
 * Ends deliveries, by hand or when their handler ended, and tells of it by events. A delivery is marked as settled before
 * anything is awaited, so that nothing else can settle, extend or lose it from then on.
 */
export class Settlements<Payload> implements DeliverySettler<Payload> {
  readonly #queue: EngineQueue;
  readonly #settler: Settler;
  readonly #events: EventEmitter<Payload>;
  readonly #settings: Pick<ConsumeSettings, "lease" | "backoff">;
  readonly #keeper: LeaseKeeper<LeasedDelivery<Payload>>;
  readonly #onFinished: ((delivery: LeasedDelivery<Payload>) => void) | undefined;
  readonly #defaultBackoff = exponentialBackoff();
  /** The extensions by hand that were asked for last. */
  #extending: { readonly lease: number; readonly batcher: Batcher<Receipt, Extension> } | undefined;

  constructor(options: SettlementsOptions<Payload>) {
    this.#queue = options.queue;
    this.#settler = options.settler;
    this.#events = options.events;
    this.#settings = options.settings;
    this.#keeper = options.keeper;
    this.#onFinished = options.onFinished;
  }

  acknowledge(delivery: LeasedDelivery<Payload>): Promise<PunctualError | undefined> {
    delivery.end("settled");
    delivery.settlement = this.#acknowledge(delivery);
    return delivery.settlement;
  }

  finish(delivery: LeasedDelivery<Payload>): void {
    delivery.end("settled");
    this.#settler.acknowledgeFor(delivery, this.#finished);
  }

  readonly #finished = (
    delivery: LeasedDelivery<Payload>,
    outcome: SettleOutcome | undefined,
    failure: unknown,
  ): void => {
    this.#acknowledged(delivery, outcome ?? asPunctualError(failure));
    this.#onFinished?.(delivery);
  };

  retry(
    delivery: LeasedDelivery<Payload>,
    failure: { readonly error: unknown } | undefined,
    delay: number | undefined,
  ): Promise<PunctualError | undefined> {
    delivery.end("settled");
    delivery.settlement = this.#retry(delivery, failure, delay);
    return delivery.settlement;
  }

  release(delivery: LeasedDelivery<Payload>, delay: number | undefined): Promise<PunctualError | undefined> {
    delivery.end("settled");
    delivery.settlement = this.#release(delivery, delay);
    return delivery.settlement;
  }

  bury(delivery: LeasedDelivery<Payload>, reason: string, error?: PunctualError): Promise<PunctualError | undefined> {
    delivery.end("settled");
    delivery.settlement = this.#bury(delivery, reason, error);
    return delivery.settlement;
  }

  /** Releases what a closing consumer no longer waits for; what its handler still does settles nothing. */
  handBack(delivery: LeasedDelivery<Payload>): Promise<PunctualError | undefined> {
    delivery.end("handed-back");
    delivery.settlement = this.#release(delivery, undefined);
    return delivery.settlement;
  }

  async extend(delivery: LeasedDelivery<Payload>, lease: number | undefined): Promise<PunctualError | undefined> {
    // The keeper leaves it alone meanwhile: its call, if it ran second, would take back what this one gave.
    delivery.extensions += 1;
    let leaseUntil = delivery.leaseUntil;
    try {
      const extension = await this.#extensions(lease ?? this.#settings.lease).add(delivery);
      if (extension.outcome === "extended") {
        leaseUntil = extension.leaseUntil;
        return undefined;
      }
    } catch (cause) {
      return this.#failed(delivery, cause instanceof PunctualError ? cause : unexpected("extend", delivery, cause));
    } finally {
      delivery.extensions -= 1;
      this.#keeper.extended(delivery, leaseUntil);
    }
    const error = leaseLost("extend", delivery);
    if (delivery.state === "held") this.lose(delivery, error);
    return error;
  }

  /** One call for all that are extended to the same length in one tick; most handlers ask for one length, if for any. */
  #extensions(lease: number): Batcher<Receipt, Extension> {
    if (this.#extending?.lease !== lease) {
      const batcher = new Batcher<Receipt, Extension>((receipts) => this.#queue.extend(receipts, lease), {
        clock: this.#queue.clock,
      });
      this.#extending = { lease, batcher };
    }
    return this.#extending.batcher;
  }

  /** The lease ended without us: tells the handler by its signal, and others by `leaseLost`. */
  lose(delivery: LeasedDelivery<Payload>, error: PunctualError): void {
    delivery.lose(error);
    this.#events.emit("leaseLost", delivery, error);
  }

  async #acknowledge(delivery: LeasedDelivery<Payload>): Promise<PunctualError | undefined> {
    return this.#acknowledged(delivery, await this.#settler.acknowledge(delivery));
  }

  #acknowledged(delivery: LeasedDelivery<Payload>, outcome: SettleOutcome): PunctualError | undefined {
    if (outcome !== "settled") return this.#notSettled("acknowledge", delivery, outcome);
    this.#events.emit("acknowledged", delivery);
    return undefined;
  }

  async #retry(
    delivery: LeasedDelivery<Payload>,
    failure: { readonly error: unknown } | undefined,
    givenDelay: number | undefined,
  ): Promise<PunctualError | undefined> {
    const { id, token, leaseUntil } = delivery;
    const isLast = delivery.attempt >= delivery.attempts;
    const delay = givenDelay ?? (isLast ? 0 : this.#policyDelay(delivery, failure?.error));
    const error = failure && failureRecord(failure.error);
    const outcome = await this.#settler.retry({ id, token, leaseUntil, delay, error });
    if (outcome !== "settled") return this.#notSettled("retry", delivery, outcome);
    if (isLast) this.#events.emit("buried", delivery, { reason: "attempts", error: failure?.error });
    else this.#events.emit("retried", delivery, { delay, error: failure?.error });
    return undefined;
  }

  async #release(delivery: LeasedDelivery<Payload>, delay: number | undefined): Promise<PunctualError | undefined> {
    const { id, token, leaseUntil } = delivery;
    const outcome = await this.#settler.release({ id, token, leaseUntil, delay });
    return outcome === "settled" ? undefined : this.#notSettled("release", delivery, outcome);
  }

  async #bury(
    delivery: LeasedDelivery<Payload>,
    reason: string,
    error: PunctualError | undefined,
  ): Promise<PunctualError | undefined> {
    const { id, token, leaseUntil } = delivery;
    const outcome = await this.#settler.bury({ id, token, leaseUntil, reason, error: error && failureRecord(error) });
    if (outcome !== "settled") return this.#notSettled("bury", delivery, outcome);
    this.#events.emit("buried", delivery, error === undefined ? { reason } : { reason, error });
    return undefined;
  }

  /** The wait of the policy; the default when the policy throws or says nonsense, for a message must not hang on that. */
  #policyDelay(delivery: LeasedDelivery<Payload>, error: unknown): number {
    try {
      return parseDuration(this.#settings.backoff(delivery.attempt, error), "The result of retry.backoff");
    } catch (fault) {
      this.#events.emit("error", fault, delivery);
      return parseDuration(this.#defaultBackoff(delivery.attempt, error), "delay");
    }
  }

  #notSettled(
    verb: string,
    delivery: LeasedDelivery<Payload>,
    outcome: Exclude<SettleOutcome, "settled">,
  ): PunctualError {
    if (outcome === "lease-lost") {
      const error = leaseLost(verb, delivery);
      this.lose(delivery, error);
      return error;
    }
    if (outcome === "outcome-unknown") {
      const message = `No reply came to ${verb} of message ${quote(delivery.id)} until its lease ended; it may be delivered again.`;
      return this.#failed(delivery, new PunctualError("outcome-unknown", message, { details: { id: delivery.id } }));
    }
    return this.#failed(delivery, outcome);
  }

  #failed(delivery: LeasedDelivery<Payload>, error: PunctualError): PunctualError {
    this.#events.emit("error", error, delivery);
    return error;
  }
}

function leaseLost(verb: string, delivery: { readonly id: string }): PunctualError {
  const message = `The lease on message ${quote(delivery.id)} had ended before ${verb}; it is delivered again, unless it is gone.`;
  return new PunctualError("lease-lost", message, { details: { id: delivery.id } });
}

function unexpected(verb: string, delivery: { readonly id: string }, cause: unknown): PunctualError {
  return new PunctualError("internal", `The engine failed to ${verb} in a way that its contract does not know.`, {
    cause,
    details: { id: delivery.id },
  });
}
