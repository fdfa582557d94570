import { latestTime } from "../../duration.js";
import type { DueTime, FailureRecord, MessageState, NewMessage, StoredMessage } from "../../engine.js";

/**
 * A message as the memory engine keeps it. Its state follows from it: with `buried` it is dead, with `lease` leased, else
 * scheduled or due by `dueAt`. So no message is in two states.
 */
export interface MessageRecord {
  readonly id: string;
  /** Its place among equal due times; counted up by the queue. */
  readonly sequence: number;
  readonly payload: Uint8Array;
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Deliveries at most, over the limit of the claim. */
  readonly attempts: number | undefined;
  /** The last moment at which it may be delivered. */
  readonly expiresAt: number;
  dueAt: number;
  /** Deliveries that are over and counted. */
  failures: number;
  lease: Lease | undefined;
  lastError: StoredMessage["lastError"];
  buried: StoredMessage["buried"];
}

interface Lease {
  /** The token of the claim that gave it. */
  readonly token: string;
  /** Deliveries at most, fixed by the claim. */
  readonly attempts: number;
  readonly until: number;
}

/** The stored form of a due time: whole ms, rounded up, so that it is never early; what has passed means now. */
export function dueAtOf(due: DueTime, now: number): number {
  const wanted = "at" in due ? due.at : due.delay > 0 ? now + due.delay : -Infinity;
  return Math.min(Math.max(Math.ceil(wanted), Math.floor(now)), latestTime);
}

export function newRecord(message: NewMessage, sequence: number, now: number): MessageRecord {
  const dueAt = dueAtOf(message.due, now);
  return {
    id: message.id,
    sequence,
    payload: copyOf(message.payload),
    headers: message.headers && Object.freeze({ ...message.headers }),
    attempts: message.attempts,
    expiresAt: message.expiresIn === undefined ? Infinity : dueAt + Math.ceil(message.expiresIn),
    dueAt,
    failures: 0,
    lease: undefined,
    lastError: undefined,
    buried: undefined,
  };
}

/** A dead letter that was brought back: with attempts counted anew and no expiry, as the youngest of its due time. */
export function revivedRecord(record: MessageRecord, due: DueTime, sequence: number, now: number): MessageRecord {
  return {
    ...record,
    sequence,
    expiresAt: Infinity,
    dueAt: dueAtOf(due, now),
    failures: 0,
    lease: undefined,
    lastError: undefined,
    buried: undefined,
  };
}

/** A copy, so that the caller and the engine cannot change each other's bytes. `Buffer.slice` would share them. */
export function copyOf(payload: Uint8Array): Uint8Array {
  return new Uint8Array(payload);
}

/** Keeps the error of a delivery that failed; one that failed without an error keeps the error before it. */
export function noteError(record: MessageRecord, error: FailureRecord | undefined, now: number): void {
  if (error === undefined) return;
  const { name, message, stack } = error;
  record.lastError = { name, message, ...(stack === undefined ? {} : { stack }), at: Math.floor(now) };
}

/** Whether it is under a lease that has ended, though nobody has reclaimed it yet. */
export function isLeaseOver(record: MessageRecord, now: number): boolean {
  return record.lease !== undefined && record.lease.until <= now;
}

/** Whether a leased message may be delivered once more after this delivery has failed. */
export function hasAttemptsLeft(record: MessageRecord): boolean {
  return record.lease !== undefined && record.failures + 1 < record.lease.attempts;
}

/** The state that a reader sees: a message whose lease has ended is in the one that it will be in when it is reclaimed. */
export function stateOf(record: MessageRecord, now: number): MessageState {
  if (record.buried) return "dead";
  if (!record.lease) return record.dueAt <= now ? "due" : "scheduled";
  if (!isLeaseOver(record, now)) return "leased";
  return hasAttemptsLeft(record) ? "due" : "dead";
}

/** The message as a reader sees it; see `stateOf`. */
export function storedMessageOf(record: MessageRecord, now: number): StoredMessage {
  const { id, lease, headers, lastError, dueAt } = record;
  const state = stateOf(record, now);
  const common = {
    id,
    state,
    payload: copyOf(record.payload),
    dueAt: state === "due" && lease ? lease.until : dueAt,
    attempt: record.failures + (lease ? 1 : 0),
    ...(headers && { headers }),
    ...(lastError && { lastError: { ...lastError } }),
  };
  if (state === "leased" && lease) return { ...common, leaseUntil: lease.until };
  if (state !== "dead") return common;
  // It is buried as of the end of its lease, whenever that is noticed.
  return { ...common, buried: record.buried ? { ...record.buried } : { reason: "attempts", at: lease?.until ?? 0 } };
}
