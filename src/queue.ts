import { Batcher } from "./batcher.js";
import { type Codec, jsonCodec } from "./codec.js";
import { type ConsumeOptions, readConsumeOptions } from "./consumer/consume-options.js";
import { type Consumer, QueueConsumer } from "./consumer/consumer.js";
import type { Delivery, Handler } from "./consumer/delivery.js";
import { Drops } from "./consumer/drops.js";
import { PartitionedConsumer } from "./consumer/partitioned-consumer.js";
import { type When, dueTime } from "./due.js";
import { type Duration, parseDuration } from "./duration.js";
import type {
  AuditReport,
  CallOptions,
  Counts,
  Engine,
  EngineQueue,
  NewMessage,
  Reschedule,
  ScheduleResult,
  StoredMessage,
} from "./engine.js";
import { PunctualError } from "./errors.js";
import { invalidValue } from "./invalid-argument.js";
import { type ListOptions, type Page, readListOptions } from "./list-options.js";
import { type Message, readListed, readMessage } from "./message.js";
import { checkId, checkIds, idGenerator } from "./message-id.js";
import { type MessageToSchedule, MessageWriter, type ScheduleOptions, callOptions } from "./new-message.js";
import { checkOptionNames } from "./option-names.js";
import { allKnown, failureWith, withResults } from "./partial-results.js";
import { quote } from "./quote.js";
import { type DeliveriesOptions, readDeliveriesOptions } from "./receive/deliveries-options.js";
import { DeliveryIterator } from "./receive/delivery-iterator.js";
import { type ReceiveOptions, readReceiveOptions } from "./receive/receive-options.js";
import { Receiver } from "./receive/receiver.js";
import { checkWholeNumber } from "./whole-number.js";

export interface QueueOptions<Payload> {
  /** Where messages are kept, such as `redisEngine({ url })`. One engine serves many queues. */
  engine: Engine;
  /** How payloads become bytes. Default: `jsonCodec()`. */
  codec?: Codec<Payload> | undefined;
  /** The largest encoded payload that is taken, bytes, 1 to 268,435,456. Default 1,048,576 (1 MiB). */
  maxPayloadBytes?: number | undefined;
  /**
   * How long an id stays taken after its message is gone: scheduling it again in that time is answered with `duplicate`.
   * Default 0: it is free at once. Only producers need to be told.
   */
  rememberFor?: Duration | undefined;
}

/** What became of a scheduled message. */
export interface Scheduled {
  readonly id: string;
  /** The due time that is stored now: of a `duplicate` or `leased` one, that of the message that was there. */
  readonly dueAt: Date;
  /**
   * `scheduled`: it is new. `duplicate`: one with this id was there and was kept. `replaced`: it took the place of one that
   * was there. `leased`: it was to replace one that is being worked on; nothing was changed.
   */
  readonly outcome: ScheduleResult["outcome"];
}

/** What a cancellation did; see `Queue.cancel`. */
export type CancelOutcome = "cancelled" | "leased" | "absent";
/** What a new due time did; see `Queue.reschedule`. */
export type RescheduleOutcome = "rescheduled" | "leased" | "dead" | "absent";

const queueNamePattern = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
/** How long a schedule may take unless it says otherwise, ms: what engines have as their default. */
const scheduleTimeout = 10_000;
const optionNames = new Set(["engine", "codec", "maxPayloadBytes", "rememberFor"]);
const whenNames = new Set(["delay", "at"]);

/** What lies under a queue. For the testing kit, and not exported from the package. */
export let partsOf: <Payload>(queue: Queue<Payload>) => { readonly store: EngineQueue; readonly codec: Codec<Payload> };

/**
 * A delay queue: hand messages over, have them delivered at their due time. Making one costs nothing and connects to
 * nothing; two with the same name and engine are the same queue. It needs no closing; the engine does.
 */
export class Queue<Payload = unknown> {
  /** The name it was made with. */
  readonly name: string;
  readonly #codec: Codec<Payload>;
  readonly #store: EngineQueue;
  readonly #writer: MessageWriter<Payload>;
  readonly #schedules: Batcher<NewMessage, ScheduleResult>;
  readonly #cancels: Batcher<string, CancelOutcome | "outcome-unknown">;
  readonly #reschedules: Batcher<Reschedule, RescheduleOutcome | "outcome-unknown">;
  readonly #gets: Batcher<string, { readonly stored: StoredMessage | undefined }>;
  readonly #receiver: Receiver<Payload>;
  readonly #drops = new Drops();

  static {
    partsOf = (queue) => ({ store: queue.#store, codec: queue.#codec });
  }

  /** The name matches `^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$`. Throws `invalid-argument`. */
  constructor(name: string, options: QueueOptions<Payload>) {
    if (typeof name !== "string" || !queueNamePattern.test(name)) {
      throw new PunctualError(
        "invalid-argument",
        `The name of the queue is ${quote(name)}; accepted are 1 to 128 of A-Z a-z 0-9 . _ : - of which the first is a letter or digit.`,
        { details: { argument: "name" } },
      );
    }
    checkOptionNames(options, optionNames, "options");
    const { engine, codec = jsonCodec<Payload>(), maxPayloadBytes = 1_048_576, rememberFor = 0 } = options;
    if (typeof engine?.open !== "function")
      throw invalidValue("engine", engine, "an engine, such as redisEngine({ url })");
    if (typeof codec?.encode !== "function" || typeof codec.decode !== "function") {
      throw invalidValue("codec", codec, "an object with encode and decode, such as jsonCodec()");
    }
    checkWholeNumber(maxPayloadBytes, "maxPayloadBytes", 1, 268_435_456);
    this.name = name;
    this.#codec = codec;
    this.#writer = new MessageWriter(codec, maxPayloadBytes, idGenerator());
    const store = engine.open(name, {
      rememberFor: parseDuration(rememberFor, "rememberFor"),
      onDropped: (dropped) => this.#drops.tell(dropped),
    });
    this.#store = store;
    const clock = store.clock;
    const weigh = (message: NewMessage) => message.payload.byteLength;
    this.#schedules = new Batcher((messages, timeout) => store.schedule(messages, { timeout }), {
      clock,
      weigh,
      timeout: scheduleTimeout,
    });
    this.#cancels = new Batcher((ids) => store.cancel(ids), { clock });
    this.#reschedules = new Batcher((changes) => store.reschedule(changes), { clock });
    this.#receiver = new Receiver(store, codec);
    this.#gets = new Batcher(async (ids) => (await store.get(ids)).map((stored) => ({ stored })), { clock });
  }

  /**
   * Hands a message over, to be delivered at its due time. Calls of one tick become one call to the store, except those
   * with a `signal` or `timeout` of their own.
   *
   * Fails with `invalid-argument` or `payload-too-large` before anything is written, with `refused`, `not-sent` or
   * `storage-full` when nothing was stored, and with `outcome-unknown`, `misconfigured` or `closed` when it may have been;
   * scheduling again with the same `id` is safe and leaves one message. Where the engine was asked for `durability`,
   * `not-confirmed` says that it is stored and that no more is known; `details.results` is an array with its `Scheduled`.
   */
  async schedule(payload: Payload, options: When & ScheduleOptions): Promise<Scheduled> {
    const message = this.#writer.message(payload, options);
    const own = callOptions(options);
    try {
      const result = own === undefined ? await this.#schedules.add(message) : await this.#scheduleAlone(message, own);
      return scheduled(message, result);
    } catch (failure) {
      throw failureWith(failure, (result: ScheduleResult | undefined) => result && scheduled(message, result));
    } finally {
      this.#receiver.mayFind();
    }
  }

  /**
   * Hands over any number of messages, in their order. All are checked before any is stored. The call ends as a whole: with
   * the shortest `timeout` and any `signal` among its messages.
   *
   * When it fails half-way, `details.results` is an array with a `Scheduled` for each message that is known to be stored
   * and `undefined` for the others. Scheduling all again with the same ids is safe.
   */
  async scheduleMany(messages: Iterable<MessageToSchedule<Payload>>): Promise<Scheduled[]> {
    const { messages: built, callOptions: own } = this.#writer.messages(messages);
    const toScheduled = (result: ScheduleResult | undefined, place: number) => {
      const message = built[place];
      return result === undefined || message === undefined ? undefined : scheduled(message, result);
    };
    if (built.length === 0) return [];
    const results = await withResults(this.#thenLook(this.#store.schedule(built, own)), toScheduled);
    return allKnown(results.map(toScheduled), "schedule");
  }

  /**
   * Gives a message another due time; it keeps its payload, options, attempts and its place among equal due times.
   * `leased`: it is being worked on; `dead`: it lies with the dead letters; `absent`: there is none. Nothing was changed in
   * these cases. Fails with `outcome-unknown` when it cannot be known.
   */
  async reschedule(id: string, when: When): Promise<RescheduleOutcome> {
    checkOptionNames(when, whenNames, "when");
    const outcome = await this.#thenLook(this.#reschedules.add({ id: checkId(id), due: dueTime(when) }));
    if (outcome === "outcome-unknown") throw unknownOutcome("reschedule", id);
    return outcome;
  }

  /**
   * Removes a message, a dead letter too. `cancelled`: it is gone and is never delivered afterwards; `leased`: it is being
   * worked on, nothing was changed; `absent`: there is none. Fails with `outcome-unknown` when it cannot be known.
   */
  async cancel(id: string): Promise<CancelOutcome> {
    const outcome = await this.#cancels.add(checkId(id));
    if (outcome === "outcome-unknown") throw unknownOutcome("cancel", id);
    return outcome;
  }

  /**
   * Removes any number of messages, as `cancel` does. When one fails, `details.results` is an array with what is known, and
   * `undefined` where nothing is.
   */
  async cancelMany(ids: Iterable<string>): Promise<CancelOutcome[]> {
    const checked = checkIds(ids);
    if (checked.length === 0) return [];
    const known = (outcome: CancelOutcome | "outcome-unknown" | undefined) =>
      outcome === "outcome-unknown" ? undefined : outcome;
    const outcomes = await withResults(this.#store.cancel(checked), known);
    return allKnown(outcomes.map(known), "cancel");
  }

  /** Reads a message without touching it; `undefined` when there is none. Fails with `undecodable` when the codec fails. */
  async get(id: string): Promise<Message<Payload> | undefined> {
    const { stored } = await this.#gets.add(checkId(id));
    return stored === undefined ? undefined : readMessage(stored, this.#codec);
  }

  /**
   * How many messages are in each state, and whether the queue is paused. A message whose lease has ended counts as due, or
   * as dead after its last attempt; when more than 1,000 leases have ended and nobody has claimed since, those beyond the
   * first 1,000 may all count as due.
   */
  async counts(): Promise<Counts> {
    return this.#store.counts();
  }

  /** No claim takes anything after this resolved, until `resume`; clocks go on, handlers at work finish. */
  async pause(): Promise<void> {
    return this.#store.pause();
  }

  /** Ends a pause: what came due meanwhile is delivered at once. */
  async resume(): Promise<void> {
    await this.#thenLook(this.#store.resume());
  }

  /**
   * A page of the messages in one state: by due time, and then in the order in which they were scheduled; dead letters by
   * the time of burial. Go on with the page's `cursor` as long as there is one. A message that keeps its state and due time
   * while you page is neither skipped nor seen twice.
   *
   * A payload that the codec cannot decode does not fail the page: that message has `undecodable` instead of a payload.
   */
  async list(query: ListOptions = {}): Promise<Page<Message<Payload>>> {
    const { messages, cursor } = await this.#store.list(readListOptions(query));
    return { messages: messages.map((stored) => readListed(stored, this.#codec)), cursor };
  }

  /**
   * Brings dead letters back, by default to be due now, with attempts counted anew and no expiry. Answers how many. `"all"`:
   * those that were there when it began. Ids that are no dead letters are passed over.
   */
  async revive(ids: Iterable<string> | "all", when: When = { delay: 0 }): Promise<number> {
    checkOptionNames(when, whenNames, "when");
    const due = dueTime(when);
    const checked = ids === "all" ? "all" : checkIds(ids);
    return checked.length === 0 ? 0 : this.#thenLook(this.#store.revive(checked, due));
  }

  /** Deletes dead letters. Answers how many; ids that are no dead letters are passed over. */
  async remove(ids: Iterable<string>): Promise<number> {
    const checked = checkIds(ids);
    return checked.length === 0 ? 0 : this.#store.remove(checked);
  }

  /**
   * Deletes what is there when it is called, and answers how much that was. `"waiting"`: what is scheduled or due; what is
   * being worked on stays. `"dead"`: the dead letters.
   */
  async purge(what: "waiting" | "dead"): Promise<number> {
    if (what !== "waiting" && what !== "dead") throw invalidValue("what", what, '"waiting" or "dead"');
    return this.#store.purge(what);
  }

  /**
   * Looks whether every message is where it belongs and nothing is left of those that are gone, while work goes on. Each
   * problem that it tells was there in one moment.
   */
  async audit(): Promise<AuditReport> {
    return this.#store.audit();
  }

  /** Mends what `audit` finds, and tells what it found. No message is lost by it. */
  async repair(): Promise<AuditReport> {
    return this.#thenLook(this.#store.repair());
  }

  /**
   * Delivers messages to a handler as they come due, until the consumer is closed. A handler that returns acknowledges; one
   * that throws is retried by the policy. Starts by itself; throws `invalid-argument` on bad options, and `closed` when the
   * engine was closed.
   */
  consume(handler: Handler<Payload>, options: ConsumeOptions = {}): Consumer<Payload> {
    if (typeof handler !== "function") throw invalidValue("handler", handler, "a function");
    const settings = readConsumeOptions(options);
    // Every other call says so by itself; a consumer would fall silent.
    if (this.#store.closed)
      throw new PunctualError("closed", "The engine was closed; make a new one, and a queue on it.");
    const { partitions } = this.#store;
    const surroundings = { drops: this.#drops };
    const consumer =
      partitions === undefined
        ? new QueueConsumer(this.#store, this.#codec, handler, settings, surroundings)
        : new PartitionedConsumer(partitions, this.#codec, handler, settings, surroundings);
    consumer.start();
    return consumer;
  }

  /**
   * Takes messages that are due, for you to settle and to extend: none when none is due, or none comes due while it waits.
   * The lease that you leave to end counts as an attempt, and aborts the signal of the delivery.
   *
   * Calls that find nothing and do not wait, one after the other, pause before they ask again: 10 ms, doubling to 1 s, until
   * a message is found or something is scheduled through this Queue. Rejects with the failure when the store cannot be
   * asked, and with the reason of the `signal` when that aborts; then what was taken has been handed back.
   */
  async receive(options: ReceiveOptions = {}): Promise<Delivery<Payload>[]> {
    return this.#receiver.receive(readReceiveOptions(options));
  }

  /**
   * Messages as they come due, to be iterated over with `for await`, each for you to settle. Leases are extended while you
   * hold them. It fetches ahead: up to `concurrency` deliveries may be unsettled, those that you have not come to included.
   * When all of them are, it waits until you settle one.
   *
   * `break`, a throw and an abort of `signal` end it: what you have not come to is handed back at once, and what you have is
   * no longer extended. An abort ends the iteration without an error. An outage of the store does not end it; the close of
   * the engine does, with `closed`. Each iteration is a consumer of its own. Throws `invalid-argument` on bad options.
   */
  deliveries(options: DeliveriesOptions = {}): AsyncIterable<Delivery<Payload>> {
    const settings = readDeliveriesOptions(options);
    return { [Symbol.asyncIterator]: () => new DeliveryIterator(this.#store, this.#codec, settings) };
  }

  /** After this call something may be due that was not before, also when it failed half-way. */
  async #thenLook<Result>(call: Promise<Result>): Promise<Result> {
    try {
      return await call;
    } finally {
      this.#receiver.mayFind();
    }
  }

  async #scheduleAlone(message: NewMessage, own: CallOptions): Promise<ScheduleResult> {
    const [result] = await this.#store.schedule([message], own);
    if (result === undefined) throw unknownOutcome("schedule", message.id);
    return result;
  }
}

function scheduled(message: NewMessage, result: ScheduleResult): Scheduled {
  return { id: message.id, dueAt: new Date(result.dueAt), outcome: result.outcome };
}

function unknownOutcome(verb: string, id: string): PunctualError {
  return new PunctualError("outcome-unknown", `A reply was lost; it is not known what ${verb} did to ${quote(id)}.`, {
    details: { id },
  });
}
