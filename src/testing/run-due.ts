import type { Codec } from "../codec.js";
import { type ConsumeOptions, readConsumeOptions } from "../consumer/consume-options.js";
import { defaultRandomness } from "../consumer/consumer.js";
import { type Handler, LeasedDelivery } from "../consumer/delivery.js";
import { EventEmitter } from "../consumer/events.js";
import { Gate } from "../consumer/gate.js";
import { LeaseKeeper } from "../consumer/lease-keeper.js";
import { runOne } from "../consumer/run-one.js";
import { Settler } from "../consumer/settle.js";
import { Settlements } from "../consumer/settlements.js";
import type { EngineQueue } from "../engine.js";
import { PunctualError } from "../errors.js";
import { checkOptionNames } from "../option-names.js";
import { partsOf, type Queue } from "../queue.js";

/** How messages are run by a test. */
export interface RunDueOptions extends Pick<ConsumeOptions, "retry" | "timeout"> {
  /** Also runs what is due when those that were due have been run, until nothing is. Default false. */
  meanwhile?: boolean | undefined;
}

/** What became of one message that was due. */
export interface RunMessage {
  readonly id: string;
  /** `lost`: its lease ended while the handler ran. */
  readonly outcome: "acknowledged" | "retried" | "buried" | "released" | "lost";
  /** What the handler threw, or why else the message was retried or buried. */
  readonly error?: unknown;
}

/** A handler that releases its message, or schedules one for now, would otherwise go on for ever. */
const mostRounds = 1_000;

const optionNames = new Set(["retry", "timeout", "meanwhile"]);

/**
 * Runs a handler over the messages that are due now, one after the other in their order, as a consumer would, and resolves
 * to what became of each. It is over when they are: a test need not wait for anything. Works on every engine; no time passes
 * by itself on a manual clock, so advance it first.
 *
 * What is due because of the handlers (a release, a retry without a delay, a message that they schedule for now) is left
 * unless `meanwhile` is set. Rejects when the store fails, or when it is not done after 1,000 rounds.
 */
export async function runDue<Payload>(
  queue: Queue<Payload>,
  handler: Handler<Payload>,
  options: RunDueOptions = {},
): Promise<RunMessage[]> {
  checkOptionNames(options, optionNames, "options");
  const { meanwhile = false, ...consumeOptions } = options;
  const run = new Run(partsOf(queue), handler, consumeOptions);
  const all = await run.round();
  for (let rounds = 1, found = all.length; meanwhile && found > 0; rounds++) {
    if (rounds === mostRounds) {
      const message = `Something is still due after ${mostRounds} rounds; does the handler of ${queue.name} release its message?`;
      throw new PunctualError("timed-out", message);
    }
    const more = await run.round();
    found = more.length;
    all.push(...more);
  }
  return all;
}

/** Claims and runs; one after the other what a consumer does side by side. */
class Run<Payload> {
  readonly #queue: EngineQueue;
  readonly #lease: number;
  readonly #attempts: number;
  readonly #keeper: LeaseKeeper<LeasedDelivery<Payload>>;
  readonly #settlements: Settlements<Payload>;
  readonly #name = defaultRandomness.bytes(9).toString("base64url");
  readonly #steps;
  /** The run of one message. */
  #isOver = new Gate();
  #claims = 0;
  #outcome: Omit<RunMessage, "id"> = { outcome: "released" };
  #failure: { readonly error: unknown } | undefined;

  constructor(
    parts: { readonly store: EngineQueue; readonly codec: Codec<Payload> },
    handler: Handler<Payload>,
    options: ConsumeOptions,
  ) {
    const { store: queue, codec } = parts;
    const settings = readConsumeOptions(options);
    const events = new EventEmitter<Payload>();
    const random = defaultRandomness.number;
    this.#queue = queue;
    this.#lease = settings.lease;
    this.#attempts = settings.attempts;
    this.#keeper = new LeaseKeeper({
      queue,
      lease: settings.lease,
      random,
      onLost: (delivery, error) => this.#settlements.lose(delivery, error),
    });
    const settler = new Settler(queue, random);
    const onOver = () => this.#isOver.open();
    this.#settlements = new Settlements({ queue, settler, events, settings, keeper: this.#keeper, onFinished: onOver });
    const note = (outcome: RunMessage["outcome"], error: unknown) => {
      this.#outcome = error === undefined ? { outcome } : { outcome, error };
    };
    events.add("acknowledged", () => note("acknowledged", undefined));
    events.add("retried", (_, { error }) => note("retried", error));
    events.add("buried", (_, { error }) => note("buried", error));
    events.add("leaseLost", (_, error) => note("lost", error));
    events.add("error", (error) => (this.#failure ??= { error }));
    this.#steps = {
      clock: queue.clock,
      codec,
      handler,
      timeout: settings.timeout,
      settler: this.#settlements,
      events,
      onHandlerEnded: () => {},
      onOver,
    };
  }

  /** Runs all that is due when it begins: it is claimed first, so that nothing that a handler does adds to it. */
  async round(): Promise<RunMessage[]> {
    try {
      return await this.#runAll(await this.#claimAll());
    } finally {
      // Also after a claim that failed: what those before it took is due again when its leases end.
      this.#keeper.stop();
    }
  }

  async #runAll(deliveries: readonly LeasedDelivery<Payload>[]): Promise<RunMessage[]> {
    const done: RunMessage[] = [];
    for (const delivery of deliveries) {
      // Lost while others were run.
      if (delivery.state !== "held") continue;
      this.#outcome = { outcome: "released" };
      this.#isOver = new Gate();
      runOne(delivery, this.#steps);
      await this.#isOver.opened;
      done.push({ id: delivery.id, ...this.#outcome });
    }
    if (this.#failure !== undefined) throw this.#failure.error;
    return done;
  }

  async #claimAll(): Promise<LeasedDelivery<Payload>[]> {
    const deliveries: LeasedDelivery<Payload>[] = [];
    for (;;) {
      const token = `${this.#name}.${(this.#claims++).toString(36)}`;
      const { messages, leaseUntil, nextAt, now } = await this.#queue.claim({
        limit: 1_000,
        lease: this.#lease,
        consumer: this.#name,
        token,
        attempts: this.#attempts,
        returns: false,
      });
      for (const claimed of messages) {
        const delivery = new LeasedDelivery<Payload>(claimed, token, leaseUntil, this.#settlements);
        this.#keeper.add(delivery);
        deliveries.push(delivery);
      }
      // A claim that was stopped by a bound of the engine, or buried what it found, says that there is more.
      if (messages.length === 0 && nextAt > now) return deliveries;
    }
  }
}
