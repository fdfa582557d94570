import type { DeadLetterBounds } from "../../dead-letter-bounds.js";
import type {
  AuditReport,
  BurialReason,
  Counts,
  DueTime,
  EngineQueue,
  FailureRecord,
  ListPage,
  ListQuery,
  NewMessage,
  Receipt,
  Dropped,
  ScheduleResult,
  StoredMessage,
} from "../../engine.js";
import { audit, repair } from "./audit.js";
import { GoneIds } from "./gone-ids.js";
import { listMessages, recordsIn } from "./list.js";
import { leaseEnd, MessageIndexes } from "./message-indexes.js";
import {
  dueAtOf,
  hasAttemptsLeft,
  isLeaseOver,
  type MessageRecord,
  newRecord,
  noteError,
  revivedRecord,
  stateOf,
  storedMessageOf,
} from "./message-record.js";

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
  readonly #indexes: MessageIndexes;
  readonly #gone = new GoneIds();
  readonly #bounds: DeadLetterBounds;
  #lastSequence = 0;
  /** Dead letters that were dropped to keep the bounds: those that nobody was told of yet, and how many there ever were. */
  #dropped: string[] = [];
  #droppedTotal = 0;

  /** `indexes`: handed in by tests that break them. */
  constructor(bounds: DeadLetterBounds = { max: undefined, maxAge: undefined }, indexes = new MessageIndexes()) {
    this.#bounds = bounds;
    this.#indexes = indexes;
  }

  /** When the next waiting message is due; `Infinity` when none waits. */
  nextDue(): number {
    return this.#indexes.waiting.first()?.dueAt ?? Infinity;
  }

  /** When the next lease ends; `Infinity` when none is held. */
  nextLeaseEnd(): number {
    const first = this.#indexes.leaseEnds.first();
    return first ? leaseEnd(first) : Infinity;
  }

  /** How long ids are remembered that go from now on, ms; 0 changes nothing. */
  rememberFor(duration: number): void {
    this.#gone.rememberFor(duration);
  }

  schedule(message: NewMessage, now: number): ScheduleResult {
    const present = this.#find(message.id);
    if (present && message.onDuplicate === "keep") return { outcome: "duplicate", dueAt: present.dueAt };
    if (present?.lease && !isLeaseOver(present, now)) return { outcome: "leased", dueAt: present.dueAt };
    const wentAt = present ? undefined : this.#gone.wentAt(message.id, now);
    if (wentAt !== undefined) return { outcome: "duplicate", dueAt: wentAt };
    if (present) this.#indexes.remove(present);
    // A replaced message is a new one: it goes behind those with its due time, and its attempts count anew.
    const record = newRecord(message, ++this.#lastSequence, now);
    this.#indexes.add(record);
    return { outcome: present ? "replaced" : "scheduled", dueAt: record.dueAt };
  }

  /** Ends the leases whose time is over, `limit` at most, and says which messages had no attempt left. */
  reclaim(limit: number, now: number): Buried[] {
    const buried: Buried[] = [];
    for (let reclaimed = 0; reclaimed < limit; reclaimed++) {
      const record = this.#indexes.leaseEnds.first();
      if (!record || !isLeaseOver(record, now)) break;
      if (this.#reclaim(record, now) === "buried") buried.push({ id: record.id, reason: "attempts" });
    }
    return buried;
  }

  /** The first message that is due, if any. */
  peekDue(now: number): MessageRecord | undefined {
    const first = this.#indexes.waiting.first();
    return first && first.dueAt <= now ? first : undefined;
  }

  /**
   * Leases the message that `peekDue` gave. One that may not be delivered any more is buried instead: it has expired, or it
   * was delivered as often as `attempts`, the limit of this consumer, allows.
   */
  lease(record: MessageRecord, token: string, until: number, attempts: number, now: number): Buried | undefined {
    const limit = record.attempts ?? attempts;
    const reason = Math.floor(now) > record.expiresAt ? "expired" : record.failures >= limit ? "attempts" : undefined;
    if (reason !== undefined) {
      this.#bury(record, reason, now, now);
      return { id: record.id, reason };
    }
    this.#indexes.change(record, () => (record.lease = { token, attempts: limit, until }));
    return undefined;
  }

  /**
   * The message of a lease that was given under this token and has not ended: the fence before every settlement. A lease
   * whose deadline has passed holds until somebody reclaims it, because until then nobody else works on the message.
   */
  held(id: string, token: string): MessageRecord | undefined {
    const record = this.#find(id);
    return record?.lease?.token === token ? record : undefined;
  }

  acknowledge(receipt: Receipt, now: number): boolean {
    const record = this.held(receipt.id, receipt.token);
    if (record) this.#forget(record, now);
    return record !== undefined;
  }

  retry(receipt: Receipt, delay: number, error: FailureRecord | undefined, now: number): boolean {
    const record = this.held(receipt.id, receipt.token);
    if (!record) return false;
    noteError(record, error, now);
    this.#endLease(record, { dueAt: dueAtOf({ delay }, now), buriedAt: now }, now);
    return true;
  }

  release(receipt: Receipt, delay: number | undefined, now: number): boolean {
    const record = this.held(receipt.id, receipt.token);
    if (!record) return false;
    this.#indexes.change(record, () => {
      record.lease = undefined;
      if (delay !== undefined) record.dueAt = dueAtOf({ delay }, now);
    });
    return true;
  }

  bury(receipt: Receipt, reason: string, error: FailureRecord | undefined, now: number): boolean {
    const record = this.held(receipt.id, receipt.token);
    if (!record) return false;
    noteError(record, error, now);
    record.failures += 1;
    this.#bury(record, reason, now, now);
    return true;
  }

  /** Unlike the others not once its deadline has passed: who held it has given it up, and would leave it to end once more. */
  extend(receipt: Receipt, until: number, now: number): boolean {
    const record = this.held(receipt.id, receipt.token);
    const lease = record?.lease;
    if (!record || !lease || isLeaseOver(record, now)) return false;
    this.#indexes.change(record, () => (record.lease = { ...lease, until }));
    return true;
  }

  cancel(id: string, now: number): Answer<"cancel"> {
    const record = this.#find(id);
    if (!record) return "absent";
    if (record.lease && !isLeaseOver(record, now)) return "leased";
    this.#forget(record, now);
    return "cancelled";
  }

  reschedule(id: string, due: DueTime, now: number): Answer<"reschedule"> {
    const record = this.#find(id);
    if (!record) return "absent";
    if (isLeaseOver(record, now)) this.#reclaim(record, now);
    if (record.lease) return "leased";
    if (record.buried) return "dead";
    this.#indexes.change(record, () => (record.dueAt = dueAtOf(due, now)));
    return "rescheduled";
  }

  get(id: string, now: number): StoredMessage | undefined {
    const record = this.#find(id);
    return record && storedMessageOf(record, now);
  }

  list(query: ListQuery, now: number): ListPage {
    return listMessages(this.#indexes, query, now);
  }

  /** Goes through the leases that have ended; all else follows from the places in the indexes. */
  counts(now: number): Omit<Counts, "paused"> {
    const { waiting, leased, dead } = this.#indexes;
    const due = waiting.rank((record) => record.dueAt > now);
    const counts = { scheduled: waiting.size - due, due, leased: leased.size, dead: dead.size };
    for (const record of this.#indexes.ended(now)) {
      counts.leased -= 1;
      counts[hasAttemptsLeft(record) ? "due" : "dead"] += 1;
    }
    return counts;
  }

  revive(ids: readonly string[] | "all", due: DueTime, now: number): number {
    let revived = 0;
    for (const record of this.#dead(ids, now)) {
      this.#indexes.remove(record);
      this.#indexes.add(revivedRecord(record, due, ++this.#lastSequence, now));
      revived += 1;
    }
    return revived;
  }

  remove(ids: readonly string[], now: number): number {
    const dead = this.#dead(ids, now);
    for (const record of dead) this.#forget(record, now);
    return dead.length;
  }

  purge(what: "waiting" | "dead", now: number): number {
    const states = what === "dead" ? (["dead"] as const) : (["due", "scheduled"] as const);
    const records = states.flatMap((state) => [...recordsIn(this.#indexes, state, now)]);
    for (const record of records) this.#forget(record, now);
    return records.length;
  }

  audit(): AuditReport {
    return audit(this.#indexes);
  }

  repair(now: number): AuditReport {
    return repair(this.#indexes, now);
  }

  /** The dead letters that were dropped since this was last asked, and how many there ever were; nothing when none. */
  takeDropped(): Dropped | undefined {
    const ids = this.#dropped;
    if (ids.length === 0) return undefined;
    this.#dropped = [];
    return { ids, total: this.#droppedTotal };
  }

  #find(id: string): MessageRecord | undefined {
    return this.#indexes.messages.get(id);
  }

  /** Those of the ids, or of all messages in their order, that are dead letters; each once. */
  #dead(ids: readonly string[] | "all", now: number): MessageRecord[] {
    if (ids === "all") return [...recordsIn(this.#indexes, "dead", now)];
    const records = [...new Set(ids)].map((id) => this.#find(id));
    return records.filter((record) => record !== undefined && stateOf(record, now) === "dead") as MessageRecord[];
  }

  /** Ends a lease whose time is over, as of its end: whoever looked in between was told that time. */
  #reclaim(record: MessageRecord, now: number): "due" | "buried" {
    return this.#endLease(record, { dueAt: leaseEnd(record), buriedAt: leaseEnd(record) }, now);
  }

  /** Ends a lease whose delivery counts: due again at `dueAt`, or buried when that was the last attempt. */
  #endLease(record: MessageRecord, to: { dueAt: number; buriedAt: number }, now: number): "due" | "buried" {
    const again = hasAttemptsLeft(record);
    record.failures += 1;
    if (!again) {
      this.#bury(record, "attempts", to.buriedAt, now);
      return "buried";
    }
    this.#indexes.change(record, () => {
      record.lease = undefined;
      record.dueAt = to.dueAt;
    });
    return "due";
  }

  #bury(record: MessageRecord, reason: string, at: number, now: number): void {
    this.#indexes.change(record, () => {
      record.lease = undefined;
      record.buried = { reason, at: Math.floor(at) };
    });
    this.trimDead(now);
  }

  /** Drops the dead letters that are over the bounds: after each burial, and with each claim for those that got too old. */
  trimDead(now: number): void {
    const { dead } = this.#indexes;
    const { max = Infinity, maxAge = Infinity } = this.#bounds;
    for (let oldest = dead.first(); oldest?.buried; oldest = dead.first()) {
      if (dead.size <= max && oldest.buried.at + maxAge > now) break;
      this.#forget(oldest, now);
      this.#dropped.push(oldest.id);
      this.#droppedTotal += 1;
    }
  }

  /** Deletes a message; its id is remembered if that was asked for. */
  #forget(record: MessageRecord, now: number): void {
    this.#indexes.remove(record);
    this.#gone.add(record.id, now);
  }
}
