import type {
  BurialReason,
  Counts,
  DueTime,
  EngineQueue,
  FailureRecord,
  NewMessage,
  Receipt,
  ScheduleResult,
  StoredMessage,
} from "../../engine.js";
import { Heap } from "./heap.js";
import { dueAtOf, isLeaseOver, type MessageRecord, newRecord, noteError, storedMessageOf } from "./message-record.js";

/** The answer of an operation of the contract about one item. */
type Answer<Operation extends "cancel" | "reschedule"> = Awaited<ReturnType<EngineQueue[Operation]>>[number];

/** A message that the engine buried itself. */
export interface Buried {
  readonly id: string;
  readonly reason: BurialReason;
}

/**
 * The messages of one queue and every change of state that there is. It knows no clock and nobody who waits: each call is
 * one step at the moment `now`.
 */
export class MessageStore {
  readonly #messages = new Map<string, MessageRecord>();
  /** Scheduled and due ones, in the order of delivery. */
  readonly #waiting = new Heap<MessageRecord>(
    (a, b) => a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.sequence < b.sequence),
  );
  /** Leased ones, by the end of their leases. */
  readonly #leased = new Heap<MessageRecord>((a, b) => {
    const [endOfA, endOfB] = [leaseEnd(a), leaseEnd(b)];
    return endOfA < endOfB || (endOfA === endOfB && a.sequence < b.sequence);
  });
  #dead = 0;
  #lastSequence = 0;

  /** When the next waiting message is due; `Infinity` when none waits. */
  nextDue(): number {
    return this.#waiting.peek()?.dueAt ?? Infinity;
  }

  /** When the next lease ends; `Infinity` when none is held. */
  nextLeaseEnd(): number {
    const first = this.#leased.peek();
    return first ? leaseEnd(first) : Infinity;
  }

  schedule(message: NewMessage, now: number): ScheduleResult {
    const present = this.#messages.get(message.id);
    if (present && message.onDuplicate === "keep") return { outcome: "duplicate", dueAt: present.dueAt };
    if (present?.lease && !isLeaseOver(present, now)) return { outcome: "leased", dueAt: present.dueAt };
    if (present) this.#remove(present);
    // A replaced message is a new one: it goes behind those with its due time, and its attempts count anew.
    const record = newRecord(message, ++this.#lastSequence, now);
    this.#messages.set(record.id, record);
    this.#waiting.push(record);
    return { outcome: present ? "replaced" : "scheduled", dueAt: record.dueAt };
  }

  /** Ends the leases whose time is over, `limit` at most, and says which messages had no attempt left. */
  reclaim(limit: number, now: number): Buried[] {
    const buried: Buried[] = [];
    for (let reclaimed = 0; reclaimed < limit; reclaimed++) {
      const record = this.#leased.peek();
      if (!record || !isLeaseOver(record, now)) break;
      const end = leaseEnd(record);
      if (this.#endLease(record, end, end) === "buried") buried.push({ id: record.id, reason: "attempts" });
    }
    return buried;
  }

  /** The first message that is due, if any. */
  peekDue(now: number): MessageRecord | undefined {
    const first = this.#waiting.peek();
    return first && first.dueAt <= now ? first : undefined;
  }

  /**
   * Leases the message that `peekDue` gave. One that may not be delivered any more is buried instead: it has expired, or it
   * was delivered as often as `attempts`, the limit of this consumer, allows.
   */
  lease(record: MessageRecord, token: string, until: number, attempts: number, now: number): Buried | undefined {
    const limit = record.attempts ?? attempts;
    const reason = Math.floor(now) > record.expiresAt ? "expired" : record.failures >= limit ? "attempts" : undefined;
    this.#waiting.remove(record);
    if (reason !== undefined) {
      this.#bury(record, reason, now);
      return { id: record.id, reason };
    }
    record.lease = { token, attempts: limit, until };
    this.#leased.push(record);
    return undefined;
  }

  /**
   * The message of a lease that was given under this token and has not ended: the fence before every settlement. A lease
   * whose deadline has passed holds until somebody reclaims it, because until then nobody else works on the message.
   */
  held(id: string, token: string): MessageRecord | undefined {
    const record = this.#messages.get(id);
    return record?.lease?.token === token ? record : undefined;
  }

  acknowledge(receipt: Receipt): boolean {
    const record = this.held(receipt.id, receipt.token);
    if (record) this.#remove(record);
    return record !== undefined;
  }

  retry(receipt: Receipt, delay: number, error: FailureRecord | undefined, now: number): boolean {
    const record = this.held(receipt.id, receipt.token);
    if (!record) return false;
    noteError(record, error, now);
    this.#endLease(record, dueAtOf({ delay }, now), now);
    return true;
  }

  release(receipt: Receipt, delay: number | undefined, now: number): boolean {
    const record = this.held(receipt.id, receipt.token);
    if (!record) return false;
    this.#leased.remove(record);
    record.lease = undefined;
    if (delay !== undefined) record.dueAt = dueAtOf({ delay }, now);
    this.#waiting.push(record);
    return true;
  }

  bury(receipt: Receipt, reason: string, error: FailureRecord | undefined, now: number): boolean {
    const record = this.held(receipt.id, receipt.token);
    if (!record) return false;
    noteError(record, error, now);
    this.#leased.remove(record);
    record.failures += 1;
    this.#bury(record, reason, now);
    return true;
  }

  extend(receipt: Receipt, until: number): boolean {
    const record = this.held(receipt.id, receipt.token);
    if (!record?.lease) return false;
    this.#leased.remove(record);
    record.lease = { ...record.lease, until };
    this.#leased.push(record);
    return true;
  }

  cancel(id: string, now: number): Answer<"cancel"> {
    const record = this.#messages.get(id);
    if (!record) return "absent";
    if (record.lease && !isLeaseOver(record, now)) return "leased";
    this.#remove(record);
    return "cancelled";
  }

  reschedule(id: string, due: DueTime, now: number): Answer<"reschedule"> {
    const record = this.#messages.get(id);
    if (!record) return "absent";
    if (isLeaseOver(record, now)) this.#endLease(record, leaseEnd(record), leaseEnd(record));
    if (record.lease) return "leased";
    if (record.buried) return "dead";
    this.#waiting.remove(record);
    record.dueAt = dueAtOf(due, now);
    this.#waiting.push(record);
    return "rescheduled";
  }

  get(id: string, now: number): StoredMessage | undefined {
    const record = this.#messages.get(id);
    return record && storedMessageOf(record, now);
  }

  /** Looks only at what is due and at leases that have ended; what is scheduled and leased follows from the totals. */
  counts(now: number): Omit<Counts, "paused"> {
    let due = 0;
    for (const _ of this.#waiting.leading((record) => record.dueAt <= now)) due += 1;
    const counts = { scheduled: this.#waiting.size - due, due, leased: this.#leased.size, dead: this.#dead };
    for (const record of this.#leased.leading((candidate) => isLeaseOver(candidate, now))) {
      counts.leased -= 1;
      counts[hasAttemptsLeft(record) ? "due" : "dead"] += 1;
    }
    return counts;
  }

  /** Ends a lease at `at`, whose delivery counts: due again at `dueAt`, or buried when that was the last attempt. */
  #endLease(record: MessageRecord, dueAt: number, at: number): "due" | "buried" {
    const again = hasAttemptsLeft(record);
    this.#leased.remove(record);
    record.lease = undefined;
    record.failures += 1;
    if (!again) {
      this.#bury(record, "attempts", at);
      return "buried";
    }
    record.dueAt = dueAt;
    this.#waiting.push(record);
    return "due";
  }

  #bury(record: MessageRecord, reason: string, now: number): void {
    record.lease = undefined;
    record.buried = { reason, at: Math.floor(now) };
    this.#dead += 1;
  }

  #remove(record: MessageRecord): void {
    if (record.buried) this.#dead -= 1;
    else if (record.lease) this.#leased.remove(record);
    else this.#waiting.remove(record);
    this.#messages.delete(record.id);
  }
}

function leaseEnd(record: MessageRecord): number {
  return record.lease?.until ?? Infinity;
}

/** Whether a leased message may be delivered once more after this delivery has failed. */
function hasAttemptsLeft(record: MessageRecord): boolean {
  return record.lease !== undefined && record.failures + 1 < record.lease.attempts;
}
