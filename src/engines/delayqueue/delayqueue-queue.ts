import type {
  Burial,
  CallOptions,
  ClaimRequest,
  ClaimResult,
  Counts,
  ListPage,
  ListQuery,
  NewMessage,
  OpenOptions,
  Receipt,
  Release,
  Reschedule,
  Retry,
} from "../../engine.js";
import { type Refusals, type SchemeContext, SchemeQueue } from "../../schemes/scheme-queue.js";
import type { Evaluator } from "../../scripting/script.js";
import type { DelayqueueKeys } from "./keys.js";
import { explainingSlots } from "./one-slot.js";
import type { DelayqueueSettings } from "./options.js";
import { acknowledge } from "./scripts/acknowledge.js";
import { bury } from "./scripts/bury.js";
import { cancel } from "./scripts/cancel.js";
import { claim } from "./scripts/claim.js";
import { counts } from "./scripts/counts.js";
import { extend } from "./scripts/extend.js";
import { get } from "./scripts/get.js";
import { listMarked } from "../../list-cursor.js";
import { unsupported } from "../../unsupported.js";
import { list } from "./scripts/list.js";
import { pause } from "./scripts/pause.js";
import { purge } from "./scripts/purge.js";
import { release } from "./scripts/release.js";
import { reschedule } from "./scripts/reschedule.js";
import { resume } from "./scripts/resume.js";
import { retry } from "./scripts/retry.js";
import { schedule } from "./scripts/schedule.js";

const noDeadLetters = "its format keeps no dead letters: a message without retries is deleted";
const lists =
  "a program of the Go library moved it to a list of ids alone, and each message that is taken shifts the rest";
const keysOfRedis =
  "its payloads are keys of their own, and to find one without an entry is to look at every key of Redis";

const refusals: Refusals = {
  list: lists,
  revive: noDeadLetters,
  remove: noDeadLetters,
  purge: noDeadLetters,
  audit: keysOfRedis,
  repair: keysOfRedis,
};

/** A queue in the format of the Go library: which script runs on which connection. What it does is in `scripts/<verb>`. */
export class DelayqueueQueue extends SchemeQueue {
  readonly #keys: DelayqueueKeys;
  readonly #options: DelayqueueSettings & OpenOptions;
  readonly #engine: string;
  readonly #work: Evaluator;
  readonly #calls: Evaluator;
  #order = 0;

  constructor(context: SchemeContext, keys: DelayqueueKeys, options: DelayqueueSettings & OpenOptions) {
    super(context, keys, refusals);
    this.#keys = keys;
    this.#options = options;
    this.#engine = context.engine;
    this.#work = explainingSlots(context.work);
    this.#calls = explainingSlots(context.calls);
  }

  async schedule(messages: readonly NewMessage[], options?: CallOptions) {
    if (this.#options.rememberFor !== undefined && this.#options.rememberFor > 0) {
      const why = "programs of the Go library forget an id with its message";
      throw unsupported(this.#engine, "schedule with rememberFor", why, { operation: "schedule" });
    }
    return await schedule(this.#calls, this.#keys, messages, { ...options, keep: this.#options.ttl });
  }

  async claim(request: ClaimRequest): Promise<ClaimResult> {
    // Grows with each claim of a consumer, also when an engine that was closed had one of the same name.
    this.#order = Math.max(this.#order + 1, Math.floor(this.clock.now()));
    const { interval, ttl, onDropped } = this.#options;
    const options = { order: this.#order, interval, keep: ttl, onDropped };
    const result = await claim(this.#work, this.#keys, request, options);
    this.watches.claimed(request.consumer, result.now);
    return result;
  }

  acknowledge(receipts: readonly Receipt[]) {
    return acknowledge(this.#work, this.#keys, receipts);
  }

  retry(retries: readonly Retry[]) {
    return retry(this.#work, this.#keys, retries, { keep: this.#options.ttl, onDropped: this.#options.onDropped });
  }

  release(releases: readonly Release[]) {
    return release(this.#work, this.#keys, releases, this.#options.ttl);
  }

  bury(burials: readonly Burial[]) {
    return bury(this.#work, this.#keys, burials, this.#options.onDropped);
  }

  extend(receipts: readonly Receipt[], lease: number) {
    return extend(this.#work, this.#keys, receipts, { lease, keep: this.#options.ttl });
  }

  override cancel(ids: readonly string[]) {
    return cancel(this.#calls, this.#keys, ids);
  }

  override reschedule(changes: readonly Reschedule[]) {
    return reschedule(this.#calls, this.#keys, changes, this.#options.ttl);
  }

  override get(ids: readonly string[]) {
    return get(this.#calls, this.#keys, ids);
  }

  override list(query: ListQuery): Promise<ListPage> {
    return listMarked(
      this.#keys.pending,
      query,
      async (own) => (await list(this.#calls, this.#keys, own)) ?? (await this.refuse("list", "what is due")),
    );
  }

  override counts(): Promise<Counts> {
    return counts(this.#calls, this.#keys);
  }

  override purge(what: "waiting" | "dead"): Promise<number> {
    return what === "waiting" ? purge(this.#calls, this.#keys) : this.refuse("purge", "dead letters");
  }

  override pause(): Promise<void> {
    return pause(this.#calls, this.#keys);
  }

  override resume(): Promise<void> {
    return resume(this.#calls, this.#keys);
  }
}
