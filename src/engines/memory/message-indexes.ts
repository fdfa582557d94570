import type { MessageRecord } from "./message-record.js";
import { OrderedIndex } from "./ordered-index.js";

/**
 * The messages of one queue by their ids, and the orders in which they are looked for. In which indexes a message belongs
 * follows from it: dead letters in `dead`, leased ones in `leaseEnds` and `leased`, all others in `waiting`. A lease that
 * has ended stays where it is until somebody reclaims it.
 */
export class MessageIndexes {
  readonly messages = new Map<string, MessageRecord>();
  /** Scheduled and due ones, in the order of delivery. */
  readonly waiting = new OrderedIndex<MessageRecord>(byDue);
  /** Leased ones, by the end of their leases. */
  readonly leaseEnds = new OrderedIndex<MessageRecord>((a, b) => leaseEnd(a) - leaseEnd(b) || a.sequence - b.sequence);
  /** Leased ones, by the time at which they were due: only to be listed. */
  readonly leased = new OrderedIndex<MessageRecord>(byDue);
  /** Dead letters, by the time of burial. */
  readonly dead = new OrderedIndex<MessageRecord>(
    (a, b) => (a.buried?.at ?? 0) - (b.buried?.at ?? 0) || compareIds(a.id, b.id),
  );

  add(record: MessageRecord): void {
    this.messages.set(record.id, record);
    for (const index of this.of(record)) index.add(record);
  }

  remove(record: MessageRecord): void {
    for (const index of this.of(record)) index.remove(record);
    this.messages.delete(record.id);
  }

  /** Changes a message, and moves it to where it belongs then. */
  change(record: MessageRecord, change: (record: MessageRecord) => void): void {
    for (const index of this.of(record)) index.remove(record);
    change(record);
    for (const index of this.of(record)) index.add(record);
  }

  /** Leased messages whose lease has ended, the one that ended first before the others. */
  *ended(now: number): Generator<MessageRecord> {
    for (const record of this.leaseEnds) {
      if (leaseEnd(record) > now) return;
      yield record;
    }
  }

  /** The indexes in which a message belongs. */
  of(record: MessageRecord): readonly OrderedIndex<MessageRecord>[] {
    if (record.buried) return [this.dead];
    return record.lease ? [this.leaseEnds, this.leased] : [this.waiting];
  }
}

/** When the lease of a message ends; never when it has none. */
export function leaseEnd(record: MessageRecord): number {
  return record.lease?.until ?? Infinity;
}

/** The order of ids: that of their bytes, which is the same in every engine. `<` compares UTF-16, another order. */
export function compareIds(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function byDue(a: MessageRecord, b: MessageRecord): number {
  return a.dueAt - b.dueAt || a.sequence - b.sequence;
}
