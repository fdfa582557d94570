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
import { PunctualError } from "../../errors.js";
import { type SchemeContext, SchemeQueue } from "../../schemes/scheme-queue.js";
import { SharedByName } from "../../schemes/shared-by-name.js";
import { audit } from "./audit.js";
import { list } from "./list.js";
import { ListWait, longestWait } from "./list-wait.js";
import type { ReliableKeys } from "./reliable-keys.js";
import { cancel, removeDead } from "./scripts/cancel.js";
import { claim, type LineClaim } from "./scripts/claim.js";
import { counts } from "./scripts/counts.js";
import { extend } from "./scripts/extend.js";
import { get } from "./scripts/get.js";
import { pause } from "./scripts/pause.js";
import { purge } from "./scripts/purge.js";
import { reschedule } from "./scripts/reschedule.js";
import { resume } from "./scripts/resume.js";
import { revive } from "./scripts/revive.js";
import { schedule } from "./scripts/schedule.js";
import { settle } from "./scripts/settle.js";
import { sweep } from "./scripts/sweep.js";

const waits = new SharedByName<ListWait>();

/** How long after it may have popped a consumer is to have claimed that, ms; else it is dead. */
const claimWithin = 2_000;

/** How long a consumer that leaves waits for Redis, ms. */
const leaveTimeout = 1_000;

/**
 * Ids in a zset; those that are due move to a list, from which consumers take them under a lease. The message stays in Redis
 * until it is acknowledged: at least once.
 *
 * A consumer that blocks pops into its hand, a list of its own, since there is no command that pops and gives a lease; its next
 * claim turns that into leases. So a lease is an entry in a zset by its end, which is found, extended and ended in O(log n),
 * where LREM on a list of all that a consumer works on would search it.
 */
export class ReliableQueue extends SchemeQueue {
  readonly #keys: ReliableKeys;
  readonly #rememberFor: number | undefined;
  readonly #wait: ListWait;
  /** Consumers whose hands Redis may know of; `false`: one may pop yet, since the reply to its pop was lost. */
  readonly #hands = new Map<string, boolean>();
  #order = 0;

  constructor(context: SchemeContext, keys: ReliableKeys, options: OpenOptions) {
    super(context, keys, {});
    this.#keys = keys;
    this.#rememberFor = options.rememberFor;
    this.#wait = waits.of(context, keys.state, () => new ListWait(context));
  }

  schedule(messages: readonly NewMessage[], options?: CallOptions) {
    return schedule(this.calls, this.#keys, messages, { ...options, rememberFor: this.#rememberFor });
  }

  async claim(request: ClaimRequest): Promise<ClaimResult> {
    const first = await this.#claim(request);
    const { result, look, overdue } = first;
    if (overdue !== undefined) this.#sweep(overdue);
    const isEmpty = result.messages.length === 0 && result.buried.length === 0 && result.missing.length === 0;
    if (!isEmpty || request.limit === 0 || request.returns === false || !this.#wait.pays(look)) return result;
    return (await this.#block(request.consumer)) ? (await this.#claim(request)).result : result;
  }

  acknowledge(receipts: readonly Receipt[]) {
    return settle(this.work, this.#keys, "acknowledge", receipts);
  }

  retry(retries: readonly Retry[]) {
    return settle(this.work, this.#keys, "retry", retries);
  }

  release(releases: readonly Release[]) {
    return settle(this.work, this.#keys, "release", releases);
  }

  bury(burials: readonly Burial[]) {
    return settle(this.work, this.#keys, "bury", burials);
  }

  extend(receipts: readonly Receipt[], lease: number) {
    return extend(this.work, this.#keys, receipts, lease);
  }

  override async watch(consumer: string, watcher: Watcher): Promise<AsyncDisposable> {
    const watch = await super.watch(consumer, this.#wait.releasing(consumer, watcher));
    return {
      [Symbol.asyncDispose]: async () => {
        await watch[Symbol.asyncDispose]();
        await this.#leave(consumer);
      },
    };
  }

  override cancel(ids: readonly string[]) {
    return cancel(this.calls, this.#keys, ids);
  }

  override reschedule(changes: readonly Reschedule[]) {
    return reschedule(this.calls, this.#keys, changes);
  }

  override get(ids: readonly string[]) {
    return get(this.calls, this.#keys, ids);
  }

  override list(query: ListQuery) {
    return list(this.calls, this.#keys, query);
  }

  override audit() {
    return audit(this.calls, this.#keys, false);
  }

  override repair() {
    return audit(this.calls, this.#keys, true);
  }

  override counts() {
    return counts(this.calls, this.#keys);
  }

  override revive(ids: readonly string[] | "all", due: DueTime) {
    return revive(this.calls, this.#keys, ids, due);
  }

  override remove(ids: readonly string[]) {
    return removeDead(this.calls, this.#keys, ids);
  }

  override purge(what: "waiting" | "dead") {
    return purge(this.calls, this.#keys, what);
  }

  override pause() {
    return pause(this.calls, this.#keys);
  }

  override resume() {
    return resume(this.calls, this.#keys);
  }

  async #claim(request: ClaimRequest): Promise<LineClaim> {
    // Grows with each claim of a consumer, also when an engine that was closed had one of the same name.
    this.#order = Math.max(this.#order + 1, Math.floor(this.clock.now()));
    const name = this.watches.nameOf(request.consumer);
    const claimed = await claim(this.work, this.#keys, { ...request, order: this.#order }, name);
    this.watches.claimed(request.consumer, claimed.look.now);
    this.#hands.delete(request.consumer);
    return claimed;
  }

  /** Waits until something is in the list; answers whether it was popped into the hand of the consumer. */
  async #block(consumer: string): Promise<boolean> {
    const { ready, hands, handOf } = this.#keys;
    const deadline = Math.ceil(this.clock.now() + longestWait + claimWithin);
    this.#hands.set(consumer, false);
    // Registered by the command right in front of it, so that nothing is popped into a hand of which nobody knows.
    const popped = await this.#wait.wait(consumer, [
      ["ZADD", hands, String(deadline), consumer],
      ["BLMOVE", ready, handOf(consumer), "RIGHT", "LEFT", String(longestWait / 1_000)],
    ]);
    this.#hands.set(consumer, true);
    return popped !== null;
  }

  /** Empties the hand of a consumer that has left. Where it fails, or the consumer may pop yet, others do that by and by. */
  async #leave(consumer: string): Promise<void> {
    const isQuiet = this.#hands.get(consumer);
    if (isQuiet === undefined) return;
    this.#hands.delete(consumer);
    try {
      await sweep(this.work, this.#keys, consumer, isQuiet ? "left" : "at-once", { timeout: leaveTimeout });
    } catch (error) {
      if (!(error instanceof PunctualError)) throw error;
    }
  }

  /** Nobody waits for it: where it fails, the next claim finds the hand again. */
  #sweep(consumer: string): void {
    sweep(this.work, this.#keys, consumer).catch((error: unknown) => {
      if (!(error instanceof PunctualError)) throw error;
    });
  }
}
