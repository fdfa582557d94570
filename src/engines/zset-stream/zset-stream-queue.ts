import type {
  Burial,
  CallOptions,
  ClaimRequest,
  ClaimResult,
  DueTime,
  ListQuery,
  NewMessage,
  OpenOptions,
  Receipt,
  Release,
  Reschedule,
  Retry,
  Watcher,
} from "../../engine.js";
import { type SchemeContext, SchemeQueue } from "../../schemes/scheme-queue.js";
import type { DeadLetterBounds } from "../../dead-letter-bounds.js";
import { PunctualError } from "../../errors.js";
import { audit } from "./audit.js";
import { Groups } from "./groups.js";
import { groupKeys, sharedKeys, type StreamKeys } from "./keys.js";
import { list } from "./list.js";
import { purgeWaiting } from "./purge.js";
import { acknowledge } from "./scripts/acknowledge.js";
import { cancel } from "./scripts/cancel.js";
import { claim } from "./scripts/claim.js";
import { counts } from "./scripts/counts.js";
import { extend } from "./scripts/extend.js";
import { get } from "./scripts/get.js";
import { bury, release, retry } from "./scripts/hand-back.js";
import { pause } from "./scripts/pause.js";
import { remove } from "./scripts/remove.js";
import { reschedule } from "./scripts/reschedule.js";
import { resume } from "./scripts/resume.js";
import { retire } from "./scripts/retire.js";
import { revive } from "./scripts/revive.js";
import { schedule } from "./scripts/schedule.js";
import { trim } from "./scripts/trim.js";

/** How long a consumer that leaves waits for Redis to take it off the group, ms. */
const retireTimeout = 1_000;

/** How long a claim that took nothing waits for old dead letters to be given up, ms. */
const trimTimeout = 1_000;

/** What makes a queue of this scheme. */
export interface ZsetStreamOptions extends OpenOptions {
  readonly base: string;
  readonly group: string;
  readonly deadLetters: DeadLetterBounds;
}

/**
 * A zset holds what is scheduled; what comes due is moved to a stream, where each group reads it. Scheduling, cancelling,
 * rescheduling, purging what waits, and pausing are for all groups; everything else is about what one group has.
 */
export class ZsetStreamQueue extends SchemeQueue {
  readonly #keys: StreamKeys;
  readonly #group: string;
  readonly #groups: Groups;
  readonly #rememberFor: number | undefined;
  readonly #bounds: DeadLetterBounds & Pick<OpenOptions, "onDropped">;
  /** When a dead letter can be over age next, Unix ms. */
  #trimAt = -Infinity;
  #order = 0;

  constructor(context: SchemeContext, { base, group, rememberFor, deadLetters, onDropped }: ZsetStreamOptions) {
    const shared = sharedKeys(base);
    const keys = { ...shared, ...groupKeys(base, group) };
    super(context, keys, {});
    this.#keys = keys;
    this.#group = group;
    this.#groups = new Groups(base, shared);
    this.#rememberFor = rememberFor;
    this.#bounds = { ...deadLetters, onDropped };
  }

  schedule(messages: readonly NewMessage[], options?: CallOptions) {
    return schedule(this.calls, this.#groups, messages, { ...options, rememberFor: this.#rememberFor });
  }

  async claim(request: ClaimRequest): Promise<ClaimResult> {
    // Grows with each claim of a consumer, also when an engine that was closed had one of the same name.
    this.#order = Math.max(this.#order + 1, Math.floor(this.clock.now()));
    const result = await claim(this.work, this.#keys, this.#group, { ...request, order: this.#order });
    this.watches.claimed(request.consumer, result.now);
    if (this.#bounded && (result.buried.length > 0 || result.now >= this.#trimAt)) {
      const trimming = this.#trim({ timeout: trimTimeout });
      // What is leased already is handed out at once: its leases run.
      if (result.messages.length === 0) await trimming;
    }
    return result;
  }

  acknowledge(receipts: readonly Receipt[]) {
    return acknowledge(this.work, this.#keys, this.#group, receipts);
  }

  async retry(retries: readonly Retry[]) {
    const settlements = await retry(this.work, this.#keys, this.#group, retries);
    await this.#trim();
    return settlements;
  }

  release(releases: readonly Release[]) {
    return release(this.work, this.#keys, this.#group, releases);
  }

  async bury(burials: readonly Burial[]) {
    const settlements = await bury(this.work, this.#keys, this.#group, burials);
    await this.#trim();
    return settlements;
  }

  extend(receipts: readonly Receipt[], lease: number) {
    return extend(this.work, this.#keys, receipts, lease);
  }

  /** A consumer that leaves is taken off the group too, so that names do not pile up there. */
  override async watch(consumer: string, watcher: Watcher): Promise<AsyncDisposable> {
    const watch = await super.watch(consumer, watcher);
    return {
      [Symbol.asyncDispose]: async () => {
        await watch[Symbol.asyncDispose]();
        const leaving = { group: this.#group, consumer };
        // When Redis is out of reach, a consumer that comes finds it gone.
        await retire(this.work, this.#keys, leaving, { timeout: retireTimeout }).catch(() => undefined);
      },
    };
  }

  override cancel(ids: readonly string[]) {
    return cancel(this.calls, this.#groups, ids);
  }

  override reschedule(changes: readonly Reschedule[]) {
    return reschedule(this.calls, this.#groups, changes);
  }

  override get(ids: readonly string[]) {
    return get(this.calls, this.#keys, this.#group, ids);
  }

  override counts() {
    return counts(this.calls, this.#keys, this.#group);
  }

  override list(query: ListQuery) {
    return list(this.calls, this.#keys, this.#group, query);
  }

  override revive(ids: readonly string[] | "all", due: DueTime) {
    return revive(this.calls, this.#keys, this.#group, { ids, due });
  }

  override remove(ids: readonly string[]) {
    return remove(this.calls, this.#keys, this.#group, ids);
  }

  override purge(what: "waiting" | "dead") {
    if (what === "dead") return remove(this.calls, this.#keys, this.#group, "all");
    return purgeWaiting(this.calls, this.#keys, this.#group, this.#groups);
  }

  override audit() {
    return audit(this.calls, this.#keys, this.#groups, { repair: false });
  }

  override repair() {
    return audit(this.calls, this.#keys, this.#groups, { repair: true });
  }

  override pause() {
    return pause(this.calls, this.#keys);
  }

  override resume() {
    return resume(this.calls, this.#groups);
  }

  get #bounded(): boolean {
    return this.#bounds.max !== undefined || this.#bounds.maxAge !== undefined;
  }

  /**
   * Gives up the dead letters that are over the bounds. What it follows is done already and has its answer, so a failure of its own
   * is left to the next call.
   */
  async #trim(options?: CallOptions): Promise<void> {
    if (!this.#bounded) return;
    try {
      this.#trimAt = await trim(this.work, this.#keys, this.#group, this.#bounds, options);
    } catch (error) {
      this.#trimAt = -Infinity;
      if (!(error instanceof PunctualError)) throw error;
    }
  }
}
