import { randomBytes } from "node:crypto";
import type { CancelTimer, Clock } from "../clock.js";
import type { Codec } from "../codec.js";
import { type Duration, parseDuration } from "../duration.js";
import type { ClaimResult, EngineQueue } from "../engine.js";
import { PunctualError } from "../errors.js";
import { checkOptionNames } from "../option-names.js";
import type { ConsumeSettings } from "./consume-options.js";
import { type Handler, LeasedDelivery } from "./delivery.js";
import type { Drops } from "./drops.js";
import { type ConsumerEvent, EventEmitter, type Listener } from "./events.js";
import { Gate } from "./gate.js";
import { type ConsumerHealth, HealthRecord } from "./health.js";
import { Intake } from "./intake.js";
import { LeaseKeeper } from "./lease-keeper.js";
import { lastPatience, withPatience } from "./patience.js";
import { Outages } from "./outages.js";
import { type RunSteps, runOne } from "./run-one.js";
import { Settler } from "./settle.js";
import { Settlements } from "./settlements.js";
import { type RoomShare, SharedRoom } from "./shared-room.js";

export interface CloseOptions {
  /** How long handlers at work may take to end. Default 30 s. */
  timeout?: Duration | undefined;
}

/** Delivers the messages of a queue to a handler, from `consume` until `close`. */
export interface Consumer<Payload = unknown> extends AsyncDisposable {
  /**
   * Takes nothing new, hands back what has not started, and waits for the handlers at work. When `timeout` is over it hands
   * their messages back, which uses no attempt, and then aborts their signals with `closed`. Resolves when that is done, or
   * 1 s after `timeout` when the store does not answer; never rejects but for bad options. Called again, it is the same
   * close; a shorter time-out counts.
   *
   * A handler may schedule meanwhile. It must not wait for the close of its own consumer, which waits for it.
   */
  close(options?: CloseOptions): Promise<void>;
  /** How it is now. */
  health(): ConsumerHealth;
  /** Adds a listener. What it throws goes to `error`, and no error needs a listener. */
  on<Event extends ConsumerEvent>(event: Event, listener: Listener<Payload, Event>): this;
  /** Removes a listener. */
  off<Event extends ConsumerEvent>(event: Event, listener: Listener<Payload, Event>): this;
}

/** Where names of consumers and the jitter of back-offs come from. */
export interface ConsumerRandomness {
  readonly bytes: (count: number) => Buffer;
  readonly number: () => number;
}

export const defaultRandomness: ConsumerRandomness = { bytes: randomBytes, number: Math.random };

/** What a consumer is given beside its work. */
export interface ConsumerSurroundings<Payload> {
  readonly randomness?: ConsumerRandomness | undefined;
  /** Tells of dead letters that fell out of the queue. */
  readonly drops?: Drops | undefined;
  /** Where its events go. Default: listeners of its own. */
  readonly events?: EventEmitter<Payload> | undefined;
  /** What it has room for, with others that work for the same consumer. Default: for all that its concurrency allows. */
  readonly room?: SharedRoom | undefined;
  /** Outages that are told once for all that work for the same consumer. Default: its own. */
  readonly outages?: Outages | undefined;
}

const closeNames = new Set(["timeout"]);

/** The life of a consumer: start, work, close. The pieces do the work; this makes and ends them in order. */
export class QueueConsumer<Payload> implements Consumer<Payload> {
  readonly #clock: Clock;
  readonly #events: EventEmitter<Payload>;
  readonly #room: SharedRoom;
  readonly #outages: Outages;
  readonly #share: RoomShare = {
    clock: () => this.#clock,
    active: () => this.#active + this.#intake.arriving,
    held: () => this.#keeper.size + this.#intake.arriving,
    onRoom: () => this.#intake.roomMade(),
  };
  readonly #health = new HealthRecord();
  readonly #settler: Settler;
  readonly #keeper: LeaseKeeper<LeasedDelivery<Payload>>;
  readonly #settlements: Settlements<Payload>;
  readonly #intake: Intake;
  readonly #steps: RunSteps<Payload>;
  #phase: "open" | "closing" | "closed" = "open";
  #active = 0;
  readonly #endDrops: (() => void) | undefined;
  #closed: Promise<void> | undefined;
  /** The engine says that it will never answer again. */
  #engineClosed: PunctualError | undefined;
  #idle: Gate | undefined;
  readonly #timeIsOver = new Gate();
  #closeBy = Number.POSITIVE_INFINITY;
  #cancelCloseTimer: CancelTimer | undefined;
  /** Messages that came while closing and go back. */
  readonly #returning = new Set<Promise<void>>();

  constructor(
    queue: EngineQueue,
    codec: Codec<Payload>,
    handler: Handler<Payload>,
    settings: ConsumeSettings,
    {
      randomness = defaultRandomness,
      drops,
      events = new EventEmitter(),
      room,
      outages = new Outages(),
    }: ConsumerSurroundings<Payload> = {},
  ) {
    this.#clock = queue.clock;
    const random = randomness.number;
    const { lease, attempts } = settings;
    this.#events = events;
    this.#room = room ?? new SharedRoom(settings.concurrency);
    this.#room.join(this.#share);
    this.#outages = outages;
    this.#settler = new Settler(queue, random);
    this.#keeper = new LeaseKeeper({ queue, lease, random, onLost: (d, error) => this.#settlements.lose(d, error) });
    const onOver = (delivery: LeasedDelivery<Payload>) => this.#over(delivery);
    this.#settlements = new Settlements({
      queue,
      settler: this.#settler,
      events,
      settings,
      keeper: this.#keeper,
      onFinished: onOver,
    });
    this.#intake = new Intake({
      queue,
      consumer: randomness.bytes(9).toString("base64url"),
      lease,
      attempts,
      random,
      room: () => (this.#phase === "open" ? this.#room.roomFor(this.#share) : 0),
      ahead: true,
      onClaim: (limit) => this.#room.claims(this.#share, limit),
      onClaimOver: () => this.#room.ended(this.#share),
      onArrival: (result) => this.#answered(result),
      onAnswer: (result, token) => this.#take(result, token),
      onFailure: (failure) => this.#interrupted(failure),
      onEndFailure: (failure) => events.emit("error", failure),
    });
    this.#endDrops = drops?.listen((dropped) => events.emit("dropped", dropped));
    this.#steps = {
      clock: this.#clock,
      codec,
      handler,
      timeout: settings.timeout,
      settler: this.#settlements,
      events,
      onHandlerEnded: () => {
        this.#active -= 1;
        this.#room.roomMade(this.#share);
      },
      onOver,
    };
  }

  /** Starts to watch and claim. Called again it does nothing. */
  start(): void {
    this.#intake.start();
  }

  on<Event extends ConsumerEvent>(event: Event, listener: Listener<Payload, Event>): this {
    this.#events.add(event, listener);
    return this;
  }

  off<Event extends ConsumerEvent>(event: Event, listener: Listener<Payload, Event>): this {
    this.#events.remove(event, listener);
    return this;
  }

  health(): ConsumerHealth {
    return this.#health.health(this.#phase, this.#active, this.#clock.elapsed());
  }

  async close(options: CloseOptions = {}): Promise<void> {
    checkOptionNames(options, closeNames, "options");
    this.#closeWithin(parseDuration(options.timeout ?? "30s", "timeout"));
    this.#closed ??= this.#close();
    await this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** A claim was answered. */
  #answered(result: ClaimResult): void {
    const wasOut = this.#health.isOut;
    this.#health.answered(result.now, this.#clock.elapsed(), !this.#intake.isInterrupted);
    if (wasOut && !this.#health.isOut && this.#outages.ended(this)) this.#events.emit("recovered");
  }

  /** Gives a promise when it hands back what it got, which holds back the next claim. */
  #take(result: ClaimResult, token: string): Promise<unknown> | undefined {
    const now = this.#clock.now();
    this.#keeper.look(Math.max(result.now, now));
    // Answered so late that its leases have ended, or that others have the room: nobody worked on the messages, so no attempt
    // must be used.
    const isOpen = this.#phase === "open";
    const room = isOpen && result.leaseUntil > now ? Math.max(0, this.#room.roomFor(this.#share)) : 0;
    for (const claimed of result.messages.slice(0, room)) {
      this.#run(new LeasedDelivery(claimed, token, result.leaseUntil, this.#settlements));
    }
    const excess = result.messages.slice(room);
    for (const { id } of excess) this.#return(id, token, result.leaseUntil);
    // The room that it had while it was arriving.
    if (excess.length > 0) this.#room.roomMade(this.#share);
    for (const { id, reason } of result.buried) this.#events.emit("buried", { id }, { reason });
    if (result.missing.length > 0) this.#events.emit("error", payloadsGone(result.missing));
    return isOpen && excess.length > 0 ? Promise.all(this.#returning) : undefined;
  }

  #run(delivery: LeasedDelivery<Payload>): void {
    this.#active += 1;
    this.#keeper.add(delivery);
    runOne(delivery, this.#steps);
  }

  #over(delivery: LeasedDelivery<Payload>): void {
    this.#keeper.remove(delivery);
    this.#room.roomMade(this.#share);
    if (this.#keeper.size === 0) this.#idle?.open();
  }

  #return(id: string, token: string, leaseUntil: number): void {
    const returned = this.#settler.release({ id, token, leaseUntil }).then(
      (outcome) => {
        if (outcome instanceof PunctualError) this.#events.emit("error", outcome, { id });
      },
      (error: unknown) => this.#events.emit("error", error, { id }),
    );
    this.#returning.add(returned);
    void returned.then(() => this.#returning.delete(returned));
  }

  /** Tells of an outage, not of each try (see `Outages`); `recovered` tells of its end. */
  #interrupted(failure: unknown): void {
    // While it waits for an answer the others get the room.
    this.#room.ended(this.#share);
    this.#health.interrupted();
    if (this.#outages.isNews(this, failure)) this.#events.emit("error", failure);
    // The engine will never answer again: there is nothing to recover.
    if (failure instanceof PunctualError && failure.code === "closed") {
      this.#engineClosed ??= failure;
      this.#closeWithin(0);
      this.#closed ??= this.#close();
    }
  }

  #closeWithin(timeout: number): void {
    const by = this.#clock.elapsed() + timeout;
    if (by >= this.#closeBy || this.#phase === "closed") return;
    this.#closeBy = by;
    this.#cancelCloseTimer?.();
    if (timeout === 0) this.#timeIsOver.open();
    else this.#cancelCloseTimer = this.#clock.runAfter(timeout, () => this.#timeIsOver.open());
  }

  async #close(): Promise<void> {
    this.#phase = "closing";
    const left = this.#intake.stop();
    const idle = new Gate();
    this.#idle = idle;
    if (this.#keeper.size === 0) idle.open();
    await Promise.race([Promise.all([idle.opened, withPatience(this.#clock, left)]), this.#timeIsOver.opened]);
    this.#cancelCloseTimer?.();
    this.#intake.abandon();
    // One patience for all that is left to do: who closes was promised its time-out, and little more.
    const by = this.#clock.elapsed() + lastPatience;
    await withPatience(this.#clock, this.#handBack(), lastPatience);
    for (const delivery of this.#keeper) {
      delivery.abandon();
      delivery.abort(this.#engineClosed === undefined ? handedBack() : engineClosed(this.#engineClosed));
    }
    this.#keeper.stop();
    await withPatience(this.#clock, left, by - this.#clock.elapsed());
    // What came after those that were handed back.
    await withPatience(this.#clock, Promise.all(this.#returning), by - this.#clock.elapsed());
    this.#endDrops?.();
    this.#phase = "closed";
  }

  /** Releases what is held. Resolves when that, and the return of messages that came while closing, was answered. */
  async #handBack(): Promise<void> {
    const releases: Promise<unknown>[] = [...this.#returning];
    for (const delivery of this.#keeper) {
      releases.push(delivery.state === "held" ? this.#settlements.handBack(delivery) : Promise.resolve());
    }
    await Promise.all(releases);
  }
}

function handedBack(): PunctualError {
  return new PunctualError("closed", "The consumer closed before the handler ended; the message was handed back.");
}

function engineClosed(cause: PunctualError): PunctualError {
  const message =
    "The engine was closed before the handler ended; the message is delivered again when its lease has ended.";
  return new PunctualError("closed", message, { cause });
}

function payloadsGone(ids: readonly string[]): PunctualError {
  return new PunctualError(
    "misconfigured",
    `The payloads of ${ids.length} messages were gone from the store: evicted (set maxmemory-policy to noeviction) or deleted by hand.`,
    { details: { ids } },
  );
}
