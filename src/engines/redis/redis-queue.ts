import type { Clock } from "../../clock.js";
import type { Durability } from "../../connection/durable.js";
import { written } from "../../connection/written.js";
import type {
  Burial,
  CallOptions,
  ClaimRequest,
  ClaimResult,
  DueTime,
  EngineQueue,
  ListQuery,
  NewMessage,
  Receipt,
  Release,
  Reschedule,
  Retry,
  Watcher,
} from "../../engine.js";
import { idGenerator } from "../../message-id.js";
import { Watches } from "../../waking/watches.js";
import type { QueueKeys } from "./keys.js";
import type { Evaluator } from "../../scripting/script.js";
import { acknowledge } from "./scripts/acknowledge.js";
import { audit, repair } from "./scripts/audit.js";
import { bury } from "./scripts/bury.js";
import { cancel } from "./scripts/cancel.js";
import { claim } from "./scripts/claim.js";
import { counts } from "./scripts/counts.js";
import type { Bounded } from "./scripts/dropped.js";
import { extend } from "./scripts/extend.js";
import { get } from "./scripts/get.js";
import { list } from "./scripts/list.js";
import { pause } from "./scripts/pause.js";
import { purge } from "./scripts/purge.js";
import { release } from "./scripts/release.js";
import { remove } from "./scripts/remove.js";
import { reschedule } from "./scripts/reschedule.js";
import { resume } from "./scripts/resume.js";
import { retry } from "./scripts/retry.js";
import { revive } from "./scripts/revive.js";
import { schedule } from "./scripts/schedule.js";
import type { Connected } from "../../connection/supervisor.js";

export interface RedisQueueOptions {
  /** Runs claims and what follows them, and hears the consumers' channels. */
  readonly work: Connected;
  /** Runs everything else. */
  readonly calls: Evaluator;
  /** Runs schedules that wait for more than being stored, and what they wait for. */
  readonly durable?: DurableCalls | undefined;
  readonly keys: QueueKeys;
  readonly rememberFor: number | undefined;
  /** The bounds of dead letters, and who hears of those that fall out. */
  readonly bounded: Bounded;
}

/** Connections that are kept for schedules which wait to be confirmed. */
export interface DurableCalls {
  readonly calls: Evaluator;
  readonly durability: Durability;
}

/** One queue in Redis: which script runs on which connection. What an operation does is in `scripts/<verb>`. */
export class RedisQueue implements EngineQueue {
  readonly clock: Clock;
  readonly #work: Connected;
  readonly #calls: Evaluator;
  readonly #durable: DurableCalls | undefined;
  readonly #keys: QueueKeys;
  readonly #rememberFor: number | undefined;
  readonly #bounded: Bounded;
  readonly #watches: Watches;
  /** Names operations whose answer Redis keeps, so that a lost reply costs no count. */
  readonly #nameOperation = idGenerator();
  #order = 0;

  constructor({ work, calls, durable, keys, rememberFor, bounded }: RedisQueueOptions) {
    this.clock = work.clock;
    this.#work = work;
    this.#calls = calls;
    this.#durable = durable;
    this.#keys = keys;
    this.#watches = new Watches(work, keys);
    this.#rememberFor = rememberFor;
    this.#bounded = bounded;
  }

  get closed(): boolean {
    return this.#work.closed;
  }

  schedule(messages: readonly NewMessage[], options?: CallOptions) {
    const { calls, durability } = this.#durable ?? { calls: this.#calls, durability: undefined };
    return schedule(calls, this.#keys, messages, { ...options, rememberFor: this.#rememberFor, durability });
  }

  async claim(request: ClaimRequest): Promise<ClaimResult> {
    // Grows with each claim of a consumer, also when an engine that was closed had one of the same name.
    this.#order = Math.max(this.#order + 1, Math.floor(this.clock.now()));
    const consumer = this.#watches.nameOf(request.consumer);
    const result = await claim(this.#work, this.#keys, { ...request, consumer, order: this.#order }, this.#bounded);
    this.#watches.claimed(request.consumer, result.now);
    return result;
  }

  sent() {
    return written();
  }

  acknowledge(receipts: readonly Receipt[]) {
    return acknowledge(this.#work, this.#keys, receipts);
  }

  retry(retries: readonly Retry[]) {
    return retry(this.#work, this.#keys, retries, this.#bounded);
  }

  release(releases: readonly Release[]) {
    return release(this.#work, this.#keys, releases);
  }

  bury(burials: readonly Burial[]) {
    return bury(this.#work, this.#keys, burials, this.#bounded);
  }

  extend(receipts: readonly Receipt[], lease: number) {
    return extend(this.#work, this.#keys, receipts, lease);
  }

  cancel(ids: readonly string[]) {
    return cancel(this.#calls, this.#keys, ids);
  }

  reschedule(changes: readonly Reschedule[]) {
    return reschedule(this.#calls, this.#keys, changes, this.#bounded);
  }

  get(ids: readonly string[]) {
    return get(this.#calls, this.#keys, ids);
  }

  counts() {
    return counts(this.#calls, this.#keys);
  }

  list(query: ListQuery) {
    return list(this.#calls, this.#keys, query);
  }

  revive(ids: readonly string[] | "all", due: DueTime) {
    return revive(this.#calls, this.#keys, ids, { due, operation: this.#nameOperation() });
  }

  remove(ids: readonly string[]) {
    return remove(this.#calls, this.#keys, ids, this.#nameOperation());
  }

  purge(what: "waiting" | "dead") {
    return purge(this.#calls, this.#keys, what, this.#nameOperation());
  }

  audit() {
    return audit(this.#calls, this.#keys);
  }

  repair() {
    return repair(this.#calls, this.#keys);
  }

  pause() {
    return pause(this.#calls, this.#keys);
  }

  resume() {
    return resume(this.#calls, this.#keys);
  }

  watch(consumer: string, watcher: Watcher) {
    return this.#watches.start(consumer, watcher);
  }
}
