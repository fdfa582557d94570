import type { Clock } from "./clock.js";
import { PunctualError } from "./errors.js";
import { sameFailure } from "./partial-results.js";

export interface BatcherOptions<Item> {
  readonly clock: Clock;
  /** Items at most in one batch. Default 1,000. */
  readonly maxItems?: number | undefined;
  /** The bytes of one item; when left out items have none. */
  readonly weigh?: ((item: Item) => number) | undefined;
  /** How long an item may take from when it was added, ms. Default: for ever. */
  readonly timeout?: number | undefined;
}

/** Bytes at most in one batch, one item at least. */
const maxBytes = 1_048_576;

/**
 * Batches under way. An engine cuts a batch into several calls: with two under way the calls of the second would run between
 * those of the first, and messages with one due time would lose their order. Nor is it faster, since batches get smaller: 512
 * producers scheduled 89 to 108 thousand/s with one, 71 to 78 with two.
 */
const maxInFlight = 1;

/**
 * After this many ms a batch no longer holds back others, so that nobody waits for the time-outs of those before. Nor does it
 * take more items when it has waited that long: all of a batch have what is left to the first.
 */
const patience = 1_000;

const turn = Promise.resolve();

/** What became of a batch: the results that are known, and the failure of those that are not. */
interface Outcome<Result> {
  readonly results: readonly (Result | undefined)[];
  readonly failure: unknown;
}

/** Hears what became of an item: its result, or why there is none. Must not throw. */
export type OnResult<Item, Result> = (item: Item, result: Result | undefined, failure: unknown) => void;

class Batch<Item, Result> {
  readonly items: Item[] = [];
  /** Who hears of the item at this place; nobody of one whose caller waits for the promise. */
  readonly listeners: (OnResult<Item, Result> | undefined)[] = [];
  bytes = 0;
  /** When the first item was added, by what has elapsed. */
  readonly since: number;
  readonly outcome: Promise<Outcome<Result>>;
  readonly settle: (outcome: Outcome<Result>) => void;

  constructor(since: number) {
    this.since = since;
    // One promise a batch, not an item: all callers wait for the same one and pick their result by its place.
    let settle: (outcome: Outcome<Result>) => void = () => {};
    this.outcome = new Promise((resolve) => {
      settle = resolve;
    });
    this.settle = settle;
  }
}

/**
 * Makes one call of many: items that are added in one tick go out together, and while a batch is under way the next one
 * fills. One batch follows the other, so the store gets items in the order in which they were added, unless one is stuck for
 * longer than `patience`.
 *
 * It starts a batch in a promise's microtask. Fake timers replace setImmediate, process.nextTick and queueMicrotask; a
 * program under test would hang.
 */
export class Batcher<Item, Result extends NonNullable<unknown>> {
  readonly #run: (items: readonly Item[], left: number) => Promise<readonly Result[]>;
  readonly #clock: Clock;
  readonly #maxItems: number;
  readonly #weigh: ((item: Item) => number) | undefined;
  readonly #timeout: number;
  #waiting: Batch<Item, Result>[] = [];
  #inFlight = 0;
  #planned = false;

  /**
   * `run` gives a result for each item, in their order, and is told how much of the `timeout` is left, ms. When it fails
   * with `details.results`, what is known there is handed to its callers, and the others fail; but with `not-confirmed` all
   * fail, each with its own result.
   */
  constructor(
    run: (items: readonly Item[], left: number) => Promise<readonly Result[]>,
    options: BatcherOptions<Item>,
  ) {
    this.#run = run;
    this.#clock = options.clock;
    this.#maxItems = options.maxItems ?? 1_000;
    this.#weigh = options.weigh;
    this.#timeout = options.timeout ?? Number.POSITIVE_INFINITY;
  }

  /** Adds an item and gives its result. */
  async add(item: Item): Promise<Result> {
    const batch = this.#batchFor(item, undefined);
    const place = batch.items.length - 1;
    const outcome = await batch.outcome;
    const result = outcome.results[place];
    if (result === undefined) throw outcome.failure;
    // All of the results are known, and yet the call has failed: so it has for each caller, who is handed what is his.
    if (outcome.failure instanceof PunctualError && outcome.failure.code === "not-confirmed")
      throw sameFailure(outcome.failure, { ...outcome.failure.details, results: [result] });
    return result;
  }

  /**
   * Adds an item; its result is heard by `listener`, which can be the same for all: of what comes by the hundred thousand a
   * second, a promise for each item was a fifth of all garbage.
   */
  addFor(item: Item, listener: OnResult<Item, Result>): void {
    this.#batchFor(item, listener);
  }

  /** The batch to which the item was added. */
  #batchFor(item: Item, listener: OnResult<Item, Result> | undefined): Batch<Item, Result> {
    const batch = this.#batchWithRoom(this.#weigh === undefined ? 0 : this.#weigh(item));
    batch.items.push(item);
    batch.listeners.push(listener);
    return batch;
  }

  #batchWithRoom(bytes: number): Batch<Item, Result> {
    let batch = this.#waiting.at(-1);
    const isFull =
      batch === undefined ||
      batch.items.length >= this.#maxItems ||
      batch.bytes + bytes > maxBytes ||
      // In the tick in which it was made nobody looks at the time.
      (!this.#planned && this.#clock.elapsed() - batch.since >= patience);
    if (batch === undefined || isFull) {
      batch = new Batch(this.#clock.elapsed());
      this.#waiting.push(batch);
      this.#plan();
    }
    batch.bytes += bytes;
    return batch;
  }

  #plan(): void {
    if (this.#planned || this.#inFlight >= maxInFlight) return;
    this.#planned = true;
    void turn.then(() => {
      this.#planned = false;
      this.#startWhatMay();
    });
  }

  #startWhatMay(): void {
    while (this.#inFlight < maxInFlight) {
      const batch = this.#waiting.shift();
      if (batch === undefined) return;
      void this.#start(batch);
    }
  }

  #left({ since }: Batch<Item, Result>): number {
    return Math.max(0, this.#timeout - (this.#clock.elapsed() - since));
  }

  async #start(batch: Batch<Item, Result>): Promise<void> {
    this.#inFlight += 1;
    let counts = true;
    const stopCounting = () => {
      if (!counts) return;
      counts = false;
      this.#inFlight -= 1;
      this.#startWhatMay();
    };
    const stopWaiting = this.#clock.runAfter(patience, stopCounting);
    let outcome: Outcome<Result>;
    try {
      outcome = { results: await this.#run(batch.items, this.#left(batch)), failure: tooFewResults };
    } catch (failure) {
      outcome = partialOutcome(failure);
    }
    stopWaiting();
    batch.settle(outcome);
    stopCounting();
    tellListeners(batch, outcome);
  }
}

function tellListeners<Item, Result>({ items, listeners }: Batch<Item, Result>, outcome: Outcome<Result>): void {
  items.forEach((item, place) => {
    const result = outcome.results[place];
    listeners[place]?.(item, result, result === undefined ? outcome.failure : undefined);
  });
}

const tooFewResults = new PunctualError("outcome-unknown", "The engine answered for fewer items than it was given.");

/** What a failed call says about its items. Callers get the failure without the results of the others. */
function partialOutcome<Result>(failure: unknown): Outcome<Result> {
  if (!(failure instanceof PunctualError)) return { results: [], failure };
  const { results, ...details } = failure.details;
  if (!Array.isArray(results)) return { results: [], failure };
  return {
    results,
    failure: sameFailure(failure, details),
  };
}
