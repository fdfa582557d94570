import { Batcher } from "./batcher.js";
import { type Codec, jsonCodec } from "./codec.js";
import { type ConsumeOptions, readConsumeOptions } from "./consumer/consume-options.js";
import { type Consumer, QueueConsumer } from "./consumer/consumer.js";
import type { Handler } from "./consumer/delivery.js";
import { type When, dueTime } from "./due.js";
import type {
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
import { type Message, readMessage } from "./message.js";
import { checkId, checkIds, idGenerator } from "./message-id.js";
import { type MessageToSchedule, MessageWriter, type ScheduleOptions, callOptions } from "./new-message.js";
import { checkOptionNames } from "./option-names.js";
import { quote } from "./quote.js";
import { checkWholeNumber } from "./whole-number.js";

export interface QueueOptions<Payload> {
  /** Where messages are kept, such as `redisEngine({ url })`. One engine serves many queues. */
  engine: Engine;
  /** How payloads become bytes. Default: `jsonCodec()`. */
  codec?: Codec<Payload> | undefined;
  /** The largest encoded payload that is taken, bytes, 1 to 268,435,456. Default 1,048,576 (1 MiB). */
  maxPayloadBytes?: number | undefined;
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
const optionNames = new Set(["engine", "codec", "maxPayloadBytes"]);
const whenNames = new Set(["delay", "at"]);

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
    const { engine, codec = jsonCodec<Payload>(), maxPayloadBytes = 1_048_576 } = options;
    if (typeof engine?.open !== "function")
      throw badOption("engine", engine, "an engine, such as redisEngine({ url })");
    if (typeof codec?.encode !== "function" || typeof codec.decode !== "function") {
      throw badOption("codec", codec, "an object with encode and decode, such as jsonCodec()");
    }
    checkWholeNumber(maxPayloadBytes, "maxPayloadBytes", 1, 268_435_456);
    this.name = name;
    this.#codec = codec;
    this.#writer = new MessageWriter(codec, maxPayloadBytes, idGenerator());
    const store = engine.open(name);
    this.#store = store;
    const clock = store.clock;
    const weigh = (message: NewMessage) => message.payload.byteLength;
    this.#schedules = new Batcher((messages) => store.schedule(messages), { clock, weigh });
    this.#cancels = new Batcher((ids) => store.cancel(ids), { clock });
    this.#reschedules = new Batcher((changes) => store.reschedule(changes), { clock });
    this.#gets = new Batcher(async (ids) => (await store.get(ids)).map((stored) => ({ stored })), { clock });
  }

  /**
   * Hands a message over, to be delivered at its due time. Calls of one tick become one call to the store, except those
   * with a `signal` or `timeout` of their own.
   *
   * Fails with `invalid-argument` or `payload-too-large` before anything is written, with `refused`, `not-sent` or
   * `storage-full` when nothing was stored, and with `outcome-unknown`, `misconfigured` or `closed` when it may have been;
   * scheduling again with the same `id` is safe and leaves one message.
   */
  async schedule(payload: Payload, options: When & ScheduleOptions): Promise<Scheduled> {
    const message = this.#writer.message(payload, options);
    const own = callOptions(options);
    const result = own === undefined ? await this.#schedules.add(message) : await this.#scheduleAlone(message, own);
    return scheduled(message, result);
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
    const results = await withResults(this.#store.schedule(built, own), toScheduled);
    return allKnown(results.map(toScheduled), "schedule");
  }

  /**
   * Gives a message another due time; it keeps its payload, options, attempts and its place among equal due times.
   * `leased`: it is being worked on; `dead`: it lies with the dead letters; `absent`: there is none. Nothing was changed in
   * these cases. Fails with `outcome-unknown` when it cannot be known.
   */
  async reschedule(id: string, when: When): Promise<RescheduleOutcome> {
    checkOptionNames(when, whenNames, "when");
    const outcome = await this.#reschedules.add({ id: checkId(id), due: dueTime(when) });
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

  /** How many messages are in each state, and whether the queue is paused. */
  async counts(): Promise<Counts> {
    return this.#store.counts();
  }

  /** No claim takes anything after this resolved, until `resume`; clocks go on, handlers at work finish. */
  async pause(): Promise<void> {
    return this.#store.pause();
  }

  /** Ends a pause: what came due meanwhile is delivered at once. */
  async resume(): Promise<void> {
    return this.#store.resume();
  }

  /**
   * Delivers messages to a handler as they come due, until the consumer is closed. A handler that returns acknowledges; one
   * that throws is retried by the policy. Starts by itself; throws `invalid-argument` on bad options.
   */
  consume(handler: Handler<Payload>, options: ConsumeOptions = {}): Consumer<Payload> {
    if (typeof handler !== "function") throw badOption("handler", handler, "a function");
    const consumer = new QueueConsumer(this.#store, this.#codec, handler, readConsumeOptions(options));
    consumer.start();
    return consumer;
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

/** Hands on a call for many; when it failed half-way, its `details.results` are turned into those of the public call. */
async function withResults<Result, Known>(
  call: Promise<Result[]>,
  toKnown: (result: Result | undefined, place: number) => Known | undefined,
): Promise<Result[]> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof PunctualError) || !Array.isArray(error.details["results"])) throw error;
    // What the elements are is in the contract of the engine.
    const results = error.details["results"] as (Result | undefined)[];
    throw new PunctualError(error.code, error.message, {
      cause: error.cause ?? error,
      details: { ...error.details, results: Array.from(results, toKnown) },
    });
  }
}

function allKnown<Known>(results: (Known | undefined)[], verb: string): Known[] {
  const known = results.filter((result) => result !== undefined);
  if (known.length === results.length) return known;
  const unknown = results.length - known.length;
  throw new PunctualError(
    "outcome-unknown",
    `It is not known what became of ${unknown} of ${results.length} to ${verb}.`,
    {
      details: { results },
    },
  );
}

function unknownOutcome(verb: string, id: string): PunctualError {
  return new PunctualError("outcome-unknown", `A reply was lost; it is not known what ${verb} did to ${quote(id)}.`, {
    details: { id },
  });
}

function badOption(argument: string, value: unknown, accepted: string): PunctualError {
  return new PunctualError("invalid-argument", `${argument} is ${quote(value)}; accepted is ${accepted}.`, {
    details: { argument },
  });
}
