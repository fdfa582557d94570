import type { Clock } from "../../clock.js";
import type {
  Burial,
  CallOptions,
  Claimed,
  ClaimRequest,
  ClaimResult,
  Counts,
  EngineQueue,
  Extension,
  NewMessage,
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
import { Duty } from "./duty.js";
import { LastClaims } from "./last-claims.js";
import { copyOf, type MessageRecord } from "./message-record.js";
import { type Buried, MessageStore } from "./message-store.js";

// The same limits as those of the Redis engine, so that a consumer meets the same answers here as there.
const claimedAtMost = 250;
const reclaimedAtMost = 125;
const payloadBytesAtMost = 1024 * 1024;

/**
 * The operations on one queue in memory.
 *
 * Each is one step: it reads and writes before it returns its promise, so calls take effect in the order in which they were
 * made. Nothing here waits for anything but that promise; `setImmediate`, `process.nextTick` and `queueMicrotask` stand
 * still under the fake timers of some test runners.
 */
export class MemoryQueue implements EngineQueue {
  readonly clock: Clock;
  readonly #store = new MessageStore();
  readonly #duty: Duty;
  readonly #lastClaims = new LastClaims();
  #paused = false;
  #closed = false;

  constructor(clock: Clock, poll: number) {
    this.clock = clock;
    this.#duty = new Duty({ poll, clock, nextWork: () => this.#nextWork() });
  }

  schedule(messages: readonly NewMessage[], options?: CallOptions): Promise<ScheduleResult[]> {
    return this.#step((now) => {
      if (options?.signal?.aborted === true) {
        throw new PunctualError("not-sent", "The call was aborted before it was made.", {
          cause: options.signal.reason,
        });
      }
      const results = messages.map((message) => this.#store.schedule(message, now));
      this.#duty.expect(this.#nextWork());
      return results;
    });
  }

  claim(request: ClaimRequest): Promise<ClaimResult> {
    return this.#step((now) => {
      const { consumer, token } = request;
      const buried = this.#store.reclaim(reclaimedAtMost, now);
      const given = this.#lastClaims.recall(consumer, token, now);
      const leaseUntil = given?.leaseUntil ?? Math.ceil(now + request.lease);
      const messages = given ? this.#stillHeld(given.ids, token) : this.#take(request, leaseUntil, buried, now);
      if (!given) this.#lastClaims.remember(consumer, { token, leaseUntil, ids: messages.map(({ id }) => id) }, now);
      const hasRoom = messages.length < request.limit;
      const nextAt = this.#duty.claimed(consumer, { hasRoom, work: this.#nextWork(), now });
      return { messages, leaseUntil, now, nextAt, buried, missing: [] };
    });
  }

  acknowledge(receipts: readonly Receipt[]): Promise<Settlement[]> {
    return this.#step(() => receipts.map((receipt) => settlement(this.#store.acknowledge(receipt))));
  }

  retry(retries: readonly Retry[]): Promise<Settlement[]> {
    return this.#step((now) => {
      const results = retries.map((retry) => settlement(this.#store.retry(retry, retry.delay, retry.error, now)));
      this.#duty.expect(this.#nextWork());
      return results;
    });
  }

  release(releases: readonly Release[]): Promise<Settlement[]> {
    return this.#step((now) => {
      const results = releases.map((release) => settlement(this.#store.release(release, release.delay, now)));
      this.#duty.expect(this.#nextWork());
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
        return this.#store.extend(receipt, leaseUntil)
          ? { outcome: "extended", leaseUntil }
          : { outcome: "lease-lost" };
      });
      // A lease may have been made shorter.
      this.#duty.expect(this.#nextWork());
      return results;
    });
  }

  cancel(ids: readonly string[]): ReturnType<EngineQueue["cancel"]> {
    return this.#step((now) => ids.map((id) => this.#store.cancel(id, now)));
  }

  reschedule(changes: readonly Reschedule[]): ReturnType<EngineQueue["reschedule"]> {
    return this.#step((now) => {
      const results = changes.map(({ id, due }) => this.#store.reschedule(id, due, now));
      this.#duty.expect(this.#nextWork());
      return results;
    });
  }

  get(ids: readonly string[]): Promise<(StoredMessage | undefined)[]> {
    return this.#step((now) => ids.map((id) => this.#store.get(id, now)));
  }

  counts(): Promise<Counts> {
    return this.#step((now) => ({ ...this.#store.counts(now), paused: this.#paused }));
  }

  pause(): Promise<void> {
    return this.#step(() => {
      this.#paused = true;
    });
  }

  resume(): Promise<void> {
    return this.#step(() => {
      this.#paused = false;
      // Wakes one; that one passes on what does not fit.
      this.#duty.expect(this.#nextWork());
    });
  }

  watch(consumer: string, watcher: Watcher): Promise<AsyncDisposable> {
    return this.#step(() => {
      this.#duty.join(consumer, watcher);
      let ended = false;
      return {
        [Symbol.asyncDispose]: async () => {
          if (ended) return;
          ended = true;
          this.#lastClaims.forget(consumer);
          this.#duty.leave(consumer, this.#closed ? Infinity : this.#nextWork());
        },
      };
    });
  }

  /** From now on every call is refused with `closed`. */
  close(): void {
    this.#closed = true;
  }

  /** Runs one operation at the time of the clock; what it throws rejects the promise. */
  async #step<Result>(operation: (now: number) => Result): Promise<Result> {
    if (this.#closed) throw new PunctualError("closed", "The memory engine was closed; make a new one.");
    return operation(this.clock.now());
  }

  /** When a claim would find something: to take, unless the queue is paused, or to reclaim. */
  #nextWork(): number {
    return Math.min(this.#paused ? Infinity : this.#store.nextDue(), this.#store.nextLeaseEnd());
  }

  /** Leases due messages until the request or a budget is full; adds those that it buried instead to `buried`. */
  #take(request: ClaimRequest, leaseUntil: number, buried: Buried[], now: number): Claimed[] {
    const messages: Claimed[] = [];
    if (this.#paused) return messages;
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
