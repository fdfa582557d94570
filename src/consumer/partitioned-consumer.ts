import type { Codec } from "../codec.js";
import type { EngineQueue } from "../engine.js";
import type { ConsumeSettings } from "./consume-options.js";
import { type CloseOptions, type Consumer, type ConsumerSurroundings, QueueConsumer } from "./consumer.js";
import type { Handler } from "./delivery.js";
import { type ConsumerEvent, EventEmitter, type Listener } from "./events.js";
import type { ConsumerHealth } from "./health.js";
import { Outages } from "./outages.js";
import { SharedRoom } from "./shared-room.js";

/** The worst comes first: a consumer is as well as the worst of its parts. */
const states = ["recovering", "starting", "closing", "running", "closed"] as const satisfies ConsumerHealth["state"][];

/**
 * The consumer of a queue that is split: one for each partition, which claims, settles and recovers by itself, so that a
 * partition that is out of reach holds up no other. They share one concurrency, and tell one set of listeners.
 */
export class PartitionedConsumer<Payload> implements Consumer<Payload> {
  readonly #events = new EventEmitter<Payload>();
  readonly #parts: readonly QueueConsumer<Payload>[];

  constructor(
    partitions: readonly EngineQueue[],
    codec: Codec<Payload>,
    handler: Handler<Payload>,
    settings: ConsumeSettings,
    { drops, ...surroundings }: ConsumerSurroundings<Payload> = {},
  ) {
    const shared = {
      ...surroundings,
      events: this.#events,
      room: new SharedRoom(settings.concurrency),
      outages: new Outages(),
    };
    this.#parts = partitions.map(
      // What fell out is told of the whole queue, and so by one.
      (queue, place) => new QueueConsumer(queue, codec, handler, settings, place === 0 ? { ...shared, drops } : shared),
    );
  }

  /** Starts to watch and claim. Called again it does nothing. */
  start(): void {
    for (const part of this.#parts) part.start();
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
    const all = this.#parts.map((part) => part.health());
    const claims = all.flatMap(({ lastClaimAt }) => lastClaimAt?.getTime() ?? []);
    return {
      state: states.find((state) => all.some((health) => health.state === state)) ?? "closed",
      active: all.reduce((sum, { active }) => sum + active, 0),
      // The oldest: all of it was claimed from since then.
      ...(claims.length === all.length ? { lastClaimAt: new Date(Math.min(...claims)) } : {}),
    };
  }

  async close(options: CloseOptions = {}): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.close(options)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
