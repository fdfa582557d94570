import { type Clock, realClock } from "../clock.js";
import type { Codec } from "../codec.js";
import { ClaimLoop } from "../consumer/claim-loop.js";
import { type ConsumerRandomness, defaultRandomness } from "../consumer/consumer.js";
import type { Delivery, LeasedDelivery } from "../consumer/delivery.js";
import { Gate } from "../consumer/gate.js";
import { Intake } from "../consumer/intake.js";
import { LeaseKeeper } from "../consumer/lease-keeper.js";
import { withPatience } from "../consumer/patience.js";
import { Settler } from "../consumer/settle.js";
import type { ClaimResult, EngineQueue } from "../engine.js";
import { PunctualError } from "../errors.js";
import { exponentialBackoff } from "../retry/exponential.js";
import { EmptyPause } from "./empty-pause.js";
import { Hand } from "./hand.js";
import type { ReceiveSettings } from "./receive-options.js";

/** A claim that was not answered. */
interface Failure {
  readonly error: unknown;
}

/** What claims brought, and the failure of the last one, if it failed. */
interface Gathered<Payload> {
  readonly deliveries: LeasedDelivery<Payload>[];
  readonly failure: Failure | undefined;
}

interface Gathering {
  /** Ends when there is something, or nothing for now; else it waits for something. */
  readonly looks: boolean;
  /** When to stop waiting, by what has elapsed; never when left out. */
  readonly until?: number | undefined;
  /** How the store failed before, which a wait that gets no answer must not forget. */
  readonly failure?: Failure | undefined;
}

/**
 * Receives messages call by call. A call claims once; when that brings nothing it may wait as a consumer does, with a watch
 * that ends with the call, so that no call waits inside the store. What was received is in the hands of the caller.
 */
export class Receiver<Payload> {
  readonly #queue: EngineQueue;
  readonly #clock: Clock;
  readonly #codec: Codec<Payload>;
  readonly #randomness: ConsumerRandomness;
  readonly #pause: EmptyPause;
  readonly #settler: Settler;
  readonly #keeper: LeaseKeeper<LeasedDelivery<Payload>>;
  readonly #backoff = exponentialBackoff();
  /** Names under which nobody claims now. One for every call would leave the books of the engine full of them. */
  readonly #freeNames: string[] = [];
  #prefix: string | undefined;
  #claims = 0;

  /** `pauseClock` times the pauses of callers that find nothing. */
  constructor(queue: EngineQueue, codec: Codec<Payload>, randomness = defaultRandomness, pauseClock = realClock) {
    this.#queue = queue;
    this.#clock = queue.clock;
    this.#codec = codec;
    this.#randomness = randomness;
    this.#pause = new EmptyPause(pauseClock);
    this.#settler = new Settler(queue, randomness.number);
    this.#keeper = new LeaseKeeper({
      queue,
      lease: 0,
      random: randomness.number,
      onLost: (delivery, error) => delivery.lose(error),
    });
    this.#keeper.letRun();
  }

  /** Something may have become due: who asks for it now need not pause. */
  mayFind(): void {
    this.#pause.reset();
  }

  /** See `Queue.receive`. */
  async receive(settings: ReceiveSettings): Promise<Delivery<Payload>[]> {
    const { signal, wait } = settings;
    const until = this.#clock.elapsed() + wait;
    if (wait === 0) await this.#pause.over(signal);
    signal?.throwIfAborted();
    const hand = this.#hand(settings.lease);
    let { deliveries, failure } = await this.#gather(hand, settings, { looks: true });
    const isWaiting = deliveries.length === 0 && this.#clock.elapsed() < until;
    if (isWaiting && signal?.aborted !== true && !isFinal(failure)) {
      ({ deliveries, failure } = await this.#gather(hand, settings, { looks: false, until, failure }));
    }
    if (signal?.aborted === true) {
      hand.release(deliveries);
      await withPatience(this.#clock, hand.settled());
      signal.throwIfAborted();
    }
    if (deliveries.length > 0) this.#pause.reset();
    else if (failure === undefined) this.#pause.foundNothing();
    else throw failure.error;
    return deliveries;
  }

  #hand(lease: number): Hand<Payload> {
    const settings = { lease, backoff: this.#backoff };
    return new Hand({
      queue: this.#queue,
      codec: this.#codec,
      settings,
      settler: this.#settler,
      keeper: this.#keeper,
    });
  }

  async #gather(hand: Hand<Payload>, settings: ReceiveSettings, gathering: Gathering): Promise<Gathered<Payload>> {
    const { max, lease, attempts, signal } = settings;
    const { looks, until } = gathering;
    const deliveries: LeasedDelivery<Payload>[] = [];
    const enough = new Gate();
    // Until an answer says otherwise, the store is as it was before.
    let failure = gathering.failure;
    let isOver = false;
    const consumer = (looks ? this.#freeNames.pop() : undefined) ?? this.#newName();
    const options = {
      queue: this.#queue,
      consumer,
      lease,
      attempts,
      random: this.#randomness.number,
      newToken: () => this.#newToken(),
      room: () => max - deliveries.length,
      onAnswer: (result: ClaimResult, token: string): Promise<void> | undefined => {
        if (isOver || hand.isTooLate(result)) return hand.handBack(result, token);
        failure = undefined;
        deliveries.push(...hand.hold(result, token));
        // A claim that only buried what came first, or found it gone, says nothing of what is due behind that.
        const didNothing = result.messages.length + result.buried.length + result.missing.length === 0;
        const leftNothing = didNothing || result.nextAt > result.now || deliveries.length >= max;
        if (looks ? leftNothing : deliveries.length > 0) enough.open();
        return undefined;
      },
      onFailure: (error: unknown) => {
        failure = { error };
        if (looks || isFinal(failure)) enough.open();
      },
      // What could not be told will be found out.
      onEndFailure: () => {},
    };
    const intake = looks ? new ClaimLoop({ ...options, returns: false }) : new Intake(options);
    const cancelTimer =
      until === undefined ? undefined : this.#clock.runAfter(until - this.#clock.elapsed(), () => enough.open());
    const onAbort = () => enough.open();
    signal?.addEventListener("abort", onAbort);
    intake.start();
    await enough.opened;
    cancelTimer?.();
    signal?.removeEventListener("abort", onAbort);
    const stopped = intake.stop();
    // A claim whose reply was lost must not bring anything under this name any more.
    if (looks) void stopped.then(() => this.#freeNames.push(consumer));
    await withPatience(this.#clock, stopped);
    isOver = true;
    intake.abandon();
    return { deliveries, failure };
  }

  #newName(): string {
    return this.#randomness.bytes(9).toString("base64url");
  }

  #newToken(): string {
    this.#prefix ??= this.#newName();
    this.#claims += 1;
    return `${this.#prefix}.${this.#claims.toString(36)}`;
  }
}

/** The engine was closed: it will never answer again. */
function isFinal(failure: Failure | undefined): boolean {
  return failure?.error instanceof PunctualError && failure.error.code === "closed";
}
