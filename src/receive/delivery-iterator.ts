import type { CancelTimer, Clock } from "../clock.js";
import type { Codec } from "../codec.js";
import { type ConsumerRandomness, defaultRandomness } from "../consumer/consumer.js";
import type { Delivery, LeasedDelivery } from "../consumer/delivery.js";
import { Intake } from "../consumer/intake.js";
import { LeaseKeeper } from "../consumer/lease-keeper.js";
import { withPatience } from "../consumer/patience.js";
import { Settler } from "../consumer/settle.js";
import type { ClaimResult, EngineQueue } from "../engine.js";
import { PunctualError } from "../errors.js";
import { quote } from "../quote.js";
import type { DeliveriesSettings } from "./deliveries-options.js";
import { Hand } from "./hand.js";

type Result<Payload> = IteratorResult<Delivery<Payload>, undefined>;

/**
 * A consumer whose handler is a loop. It fetches ahead as far as deliveries may be unsettled, and extends the leases of all
 * of them, those that the loop has not taken yet too.
 *
 * It ends once: by `return` (`break`), `throw`, its signal, or because the engine was closed. Then what nobody took is
 * released, and what was taken is no longer extended, but can be settled until its lease ends. An outage of the store is no
 * end: `next` waits.
 */
export class DeliveryIterator<Payload> implements AsyncIterableIterator<Delivery<Payload>, undefined> {
  readonly #clock: Clock;
  readonly #settings: DeliveriesSettings;
  readonly #intake: Intake;
  readonly #keeper: LeaseKeeper<LeasedDelivery<Payload>>;
  readonly #hand: Hand<Payload>;
  /** Fetched and not taken, the one that was due first first. A set, because any of them may lose its lease. */
  readonly #fetched = new Set<LeasedDelivery<Payload>>();
  /** Calls of `next` that wait, the oldest first. */
  readonly #waiting: ((result: Result<Payload> | Promise<Result<Payload>>) => void)[] = [];
  readonly #timeouts = new Map<LeasedDelivery<Payload>, CancelTimer>();
  #ended: Promise<void> | undefined;
  /** Why it ended, where nobody asked for it; told once. */
  #failure: { readonly error: unknown } | undefined;

  constructor(
    queue: EngineQueue,
    codec: Codec<Payload>,
    settings: DeliveriesSettings,
    randomness: ConsumerRandomness = defaultRandomness,
  ) {
    this.#clock = queue.clock;
    this.#settings = settings;
    const { lease, attempts } = settings;
    const random = randomness.number;
    const settler = new Settler(queue, random);
    this.#keeper = new LeaseKeeper({
      queue,
      lease,
      random,
      onLost: (delivery, error) => delivery.lose(error),
    });
    this.#hand = new Hand({
      queue,
      codec,
      settings,
      settler,
      keeper: this.#keeper,
      onEnd: (delivery) => this.#forget(delivery),
      onRoom: () => this.#intake.roomMade(),
    });
    this.#intake = new Intake({
      queue,
      consumer: randomness.bytes(9).toString("base64url"),
      lease,
      attempts,
      random,
      room: () => this.#room(),
      onAnswer: (result, token) => this.#answered(result, token),
      onFailure: (failure) => this.#failed(failure),
      // What could not be told will be found out.
      onEndFailure: () => {},
    });
  }

  /** The next message that is due. Called again before the last one came, the calls are served in their order. */
  async next(): Promise<Result<Payload>> {
    const { signal } = this.#settings;
    if (this.#ended === undefined && signal?.aborted === true) void this.#end();
    if (this.#ended !== undefined) return this.#afterTheEnd();
    this.#start();
    const delivery = this.#take();
    if (delivery !== undefined) return { done: false, value: delivery };
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  /** Ends it; see above. Resolves when what was not taken was handed back, or the store does not answer. */
  async return(): Promise<Result<Payload>> {
    await this.#end();
    return { done: true, value: undefined };
  }

  /** Ends it, and rejects with the error, as a generator does that does not catch it. */
  async throw(error: unknown): Promise<Result<Payload>> {
    await this.#end();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** With the first call of `next`, so that an iterator that nobody asks claims nothing. */
  #start(): void {
    this.#settings.signal?.addEventListener("abort", this.#onAbort);
    this.#intake.start();
  }

  readonly #onAbort = (): void => void this.#end();

  /**
   * As in a consumer, messages whose settlement is not confirmed may come on top, so that settling slowly holds up nobody
   * and gathers nothing without end.
   */
  #room(): number {
    const { concurrency } = this.#settings;
    const { held, settling } = this.#hand;
    return this.#ended === undefined ? Math.min(concurrency - held, 2 * concurrency - held - settling) : 0;
  }

  #answered(result: ClaimResult, token: string): Promise<void> | undefined {
    if (this.#ended !== undefined || this.#hand.isTooLate(result)) return this.#hand.handBack(result, token);
    for (const delivery of this.#hand.hold(result, token)) this.#fetched.add(delivery);
    while (this.#waiting.length > 0) {
      const delivery = this.#take();
      if (delivery === undefined) break;
      this.#waiting.shift()?.({ done: false, value: delivery });
    }
    return undefined;
  }

  /** The engine says that it will never answer again. Everything else passes. */
  #failed(failure: unknown): void {
    if (!(failure instanceof PunctualError) || failure.code !== "closed" || this.#ended !== undefined) return;
    this.#failure = { error: failure };
    void this.#end();
  }

  #take(): LeasedDelivery<Payload> | undefined {
    const [delivery] = this.#fetched;
    if (delivery === undefined) return undefined;
    this.#fetched.delete(delivery);
    const now = this.#clock.now();
    delivery.begin(delivery.payload, now);
    const { timeout } = this.#settings;
    if (timeout !== undefined) {
      this.#timeouts.set(
        delivery,
        this.#clock.runAfter(timeout, () => this.#timeOut(delivery, timeout)),
      );
    }
    return delivery;
  }

  #timeOut(delivery: LeasedDelivery<Payload>, timeout: number): void {
    const message = `Message ${quote(delivery.id)} was held longer than the time-out of ${timeout} ms.`;
    const error = new PunctualError("timed-out", message, { details: { id: delivery.id, timeout } });
    void delivery.timeOut(error);
  }

  #forget(delivery: LeasedDelivery<Payload>): void {
    this.#fetched.delete(delivery);
    this.#timeouts.get(delivery)?.();
    this.#timeouts.delete(delivery);
  }

  #end(): Promise<void> {
    if (this.#ended === undefined) {
      this.#ended = this.#close();
      for (const resolve of this.#waiting.splice(0)) resolve(this.#afterTheEnd());
    }
    return this.#ended;
  }

  async #close(): Promise<void> {
    this.#settings.signal?.removeEventListener("abort", this.#onAbort);
    const left = this.#intake.stop();
    this.#keeper.letRun();
    for (const cancelTimer of this.#timeouts.values()) cancelTimer();
    this.#timeouts.clear();
    this.#hand.release(Array.from(this.#fetched));
    // What the last claim brings goes back too. One patience for all of it.
    await withPatience(
      this.#clock,
      left.then(() => this.#hand.settled()),
    );
    this.#intake.abandon();
  }

  async #afterTheEnd(): Promise<Result<Payload>> {
    await this.#ended;
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
    return { done: true, value: undefined };
  }
}
