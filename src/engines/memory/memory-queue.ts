import type { Clock } from "../../clock.js";
import type {
  AuditReport,
  Burial,
  CallOptions,
  Claimed,
  ClaimRequest,
  ClaimResult,
  Counts,
  DueTime,
  EngineQueue,
  Extension,
  ListPage,
  ListQuery,
  NewMessage,
  OpenOptions,
  Receipt,
  Release,
  Reschedule,
  Retry,
  ScheduleResult,
  Settlement,
  StoredMessage,
  Watcher,
} from "../../engine.js";
import { PunctualError } from "../../errors.js";
import { listMarked } from "../../list-cursor.js";
import type { KeptQueue } from "./kept-queue.js";
import { copyOf, type MessageRecord } from "./message-record.js";
import type { Buried, MessageStore } from "./message-store.js";

// The same limits as those of the Redis engine, so that a consumer meets the same answers here as there.
const claimedAtMost = 250;
const reclaimedAtMost = 125;
const payloadBytesAtMost = 1024 * 1024;

/**
 * The operations on one queue in memory, as one of those who opened it has them.
 *
 * Each is one step: it reads and writes before it returns its promise, so calls take effect in the order in which they were
 * made. Nothing here waits for anything but that promise; `setImmediate`, `process.nextTick` and `queueMicrotask` stand
 * still under the fake timers of some test runners.
 */
export class MemoryQueue implements EngineQueue {
  readonly clock: Clock;
  readonly #name: string;
  readonly #kept: KeptQueue;
  readonly #store: MessageStore;
  readonly #options: OpenOptions;

  constructor(name: string, kept: KeptQueue, options: OpenOptions = {}) {
    this.#name = name;
    this.clock = kept.clock;
    this.#kept = kept;
    this.#store = kept.store;
    this.#options = options;
  }

  get closed(): boolean {
    return this.#kept.closed !== undefined;
  }

  schedule(messages: readonly NewMessage[], options?: CallOptions): Promise<ScheduleResult[]> {
    return this.#step((now) => {
      if (options?.signal?.aborted === true) {
        throw new PunctualError("not-sent", "The call was aborted before it was made.", {
          cause: options.signal.reason,
        });
      }
      this.#store.rememberFor(this.#options.rememberFor ?? 0);
      const results = messages.map((message) => this.#store.schedule(message, now));
      this.#wake();
      return results;
    });
  }

  claim(request: ClaimRequest): Promise<ClaimResult> {
    return this.#step((now) => {
      const { consumer, token, returns = true } = request;
      const buried = this.#store.reclaim(reclaimedAtMost, now);
      this.#store.trimDead(now);
      const given = this.#kept.lastClaims.recall(consumer, token, now);
      const leaseUntil = given?.leaseUntil ?? Math.ceil(now + request.lease);
      const messages = given ? this.#stillHeld(given.ids, token) : this.#take(request, leaseUntil, buried, now);
      if (!given)
        this.#kept.lastClaims.remember(consumer, { token, leaseUntil, ids: messages.map(({ id }) => id) }, now);
      const hasRoom = messages.length < request.limit;
      const nextAt = this.#kept.duty.claimed(consumer, { hasRoom, work: this.#kept.nextWork(), now, returns });
      return { messages, leaseUntil, now, nextAt, buried, missing: [] };
    });
  }

  acknowledge(receipts: readonly Receipt[]): Promise<Settlement[]> {
    return this.#step((now) => receipts.map((receipt) => settlement(this.#store.acknowledge(receipt, now))));
  }

  retry(retries: readonly Retry[]): Promise<Settlement[]> {
    return this.#step((now) => {
      const results = retries.map((retry) => settlement(this.#store.retry(retry, retry.delay, retry.error, now)));
      this.#wake();
      return results;
    });
  }

  release(releases: readonly Release[]): Promise<Settlement[]> {
    return this.#step((now) => {
      const results = releases.map((release) => settlement(this.#store.release(release, release.delay, now)));
      this.#wake();
      return results;
    });
  }

  bury(burials: readonly Burial[]): Promise<Settlement[]> {
    return this.#step((now) =>
      burials.map((burial) => settlement(this.#store.bury(burial, burial.reason, burial.error, now))),
    );
  }

  extend(receipts: readonly Receipt[], lease: number): Promise<Extension[]> {
    return this.#step((now) => {
      const leaseUntil = Math.ceil(now + lease);
      const results = receipts.map((receipt): Extension => {
        return this.#store.extend(receipt, leaseUntil, now)
          ? { outcome: "extended", leaseUntil }
          : { outcome: "lease-lost" };
      });
      // A lease may have been made shorter.
      this.#wake();
      return results;
    });
  }

  cancel(ids: readonly string[]): ReturnType<EngineQueue["cancel"]> {
    return this.#step((now) => ids.map((id) => this.#store.cancel(id, now)));
  }

  reschedule(changes: readonly Reschedule[]): ReturnType<EngineQueue["reschedule"]> {
    return this.#step((now) => {
      const results = changes.map(({ id, due }) => this.#store.reschedule(id, due, now));
      this.#wake();
      return results;
    });
  }

  get(ids: readonly string[]): Promise<(StoredMessage | undefined)[]> {
    return this.#step((now) => ids.map((id) => this.#store.get(id, now)));
  }

  counts(): Promise<Counts> {
    return this.#step((now) => ({ ...this.#store.counts(now), paused: this.#kept.paused }));
  }

  list(query: ListQuery): Promise<ListPage> {
    return listMarked(this.#name, query, (own) => this.#step((now) => this.#store.list(own, now)));
  }

  revive(ids: readonly string[] | "all", due: DueTime): Promise<number> {
    return this.#step((now) => {
      const revived = this.#store.revive(ids, due, now);
      this.#wake();
      return revived;
    });
  }

  remove(ids: readonly string[]): Promise<number> {
    return this.#step((now) => this.#store.remove(ids, now));
  }

  purge(what: "waiting" | "dead"): Promise<number> {
    return this.#step((now) => this.#store.purge(what, now));
  }

  audit(): Promise<AuditReport> {
    return this.#step(() => this.#store.audit());
  }

  repair(): Promise<AuditReport> {
    return this.#step((now) => {
      const report = this.#store.repair(now);
      this.#wake();
      return report;
    });
  }

  pause(): Promise<void> {
    return this.#step(() => {
      this.#kept.paused = true;
    });
  }

  resume(): Promise<void> {
    return this.#step(() => {
      this.#kept.paused = false;
      // Wakes one; that one passes on what does not fit.
      this.#wake();
    });
  }

  watch(consumer: string, watcher: Watcher): Promise<AsyncDisposable> {
    return this.#step(() => {
      this.#kept.duty.join(consumer, watcher);
      let ended = false;
      return {
        [Symbol.asyncDispose]: async () => {
          if (ended) return;
          ended = true;
          this.#kept.lastClaims.forget(consumer);
          this.#kept.duty.leave(consumer, this.closed ? Infinity : this.#kept.nextWork());
        },
      };
    });
  }

  /** Runs one operation at the time of the clock; what it throws rejects the promise. */
  async #step<Result>(operation: (now: number) => Result): Promise<Result> {
    if (this.#kept.closed !== undefined) throw this.#kept.closed;
    const result = operation(this.clock.now());
    const dropped = this.#store.takeDropped();
    if (dropped) this.#options.onDropped?.(dropped);
    return result;
  }

  /** Wakes a consumer if there is something to claim before one comes by itself. */
  #wake(): void {
    this.#kept.duty.expect(this.#kept.nextWork());
  }

  /** Leases due messages until the request or a budget is full; adds those that it buried instead to `buried`. */
  #take(request: ClaimRequest, leaseUntil: number, buried: Buried[], now: number): Claimed[] {
    const messages: Claimed[] = [];
    if (this.#kept.paused) return messages;
    let bytes = 0;
    for (let seen = 0; seen < Math.min(request.limit, claimedAtMost); seen++) {
      const record = this.#store.peekDue(now);
      if (!record) break;
      bytes += record.payload.length;
      // One at least, however large, so that the claim goes on.
      if (bytes > payloadBytesAtMost && seen > 0) break;
      const instead = this.#store.lease(record, request.token, leaseUntil, request.attempts, now);
      if (instead) buried.push(instead);
      else messages.push(claimed(record, request.attempts));
    }
    return messages;
  }

  /** The leases that an earlier run of the same claim gave, without those that have been settled or have ended since. */
  #stillHeld(ids: readonly string[], token: string): Claimed[] {
    return ids.flatMap((id) => {
      const record = this.#store.held(id, token);
      return record?.lease ? [claimed(record, record.lease.attempts)] : [];
    });
  }
}

function claimed(record: MessageRecord, attempts: number): Claimed {
  return {
    id: record.id,
    payload: copyOf(record.payload),
    dueAt: record.dueAt,
    attempt: record.failures + 1,
    attempts: record.lease?.attempts ?? attempts,
    ...(record.headers && { headers: record.headers }),
  };
}

function settlement(held: boolean): Settlement {
  return held ? "settled" : "lease-lost";
}
