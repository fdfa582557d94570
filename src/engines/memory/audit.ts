import type { AuditReport } from "../../engine.js";
import type { MessageIndexes } from "./message-indexes.js";
import type { MessageRecord } from "./message-record.js";
import type { OrderedIndex } from "./ordered-index.js";

const problemsAtMost = 1_000;

type Problem = AuditReport["problems"][number];

/**
 * Holds the messages and their indexes against each other. The kinds of problem: `entry-without-message`, `entry-elsewhere`
 * (of an index in which its message does not belong), `entry-out-of-order` (so that it would be found too late, or twice),
 * `message-without-entry`.
 */
export function audit(indexes: MessageIndexes): AuditReport {
  const problems: Problem[] = [];
  let checked = indexes.messages.size;
  const entries = new Map<OrderedIndex<MessageRecord>, Set<MessageRecord>>();
  for (const [name, index] of allIndexes(indexes)) {
    const seen = new Set<MessageRecord>();
    entries.set(index, seen);
    let last: MessageRecord | undefined;
    for (const record of index) {
      checked += 1;
      const { id } = record;
      if (indexes.messages.get(id) !== record) {
        problems.push({ kind: "entry-without-message", id, detail: `An entry of ${name} has no message.` });
      } else if (!indexes.of(record).includes(index)) {
        problems.push({ kind: "entry-elsewhere", id, detail: `The message does not belong in ${name}.` });
      } else if (last && index.compare(last, record) >= 0) {
        problems.push({ kind: "entry-out-of-order", id, detail: `It lies in ${name} behind one that comes later.` });
      }
      seen.add(record);
      last = record;
    }
  }
  for (const record of indexes.messages.values()) {
    for (const index of indexes.of(record)) {
      if (entries.get(index)?.has(record)) continue;
      const [name] = allIndexes(indexes).find(([, one]) => one === index) ?? [""];
      problems.push({ kind: "message-without-entry", id: record.id, detail: `The message is missing in ${name}.` });
    }
  }
  return { ok: problems.length === 0, problems: problems.slice(0, problemsAtMost), checked };
}

/**
 * Mends what `audit` finds, and says what that was. A message that is in no index is due at once, for nobody would ever look
 * for it; the others keep their state. The indexes follow from the messages, so they are made anew.
 */
export function repair(indexes: MessageIndexes, now: number): AuditReport {
  const report = audit(indexes);
  if (report.ok) return report;
  const all = allIndexes(indexes).map(([, index]) => index);
  const indexed = new Set(all.flatMap((index) => [...index]));
  for (const index of all) index.clear();
  for (const record of indexes.messages.values()) {
    if (!indexed.has(record)) {
      record.lease = undefined;
      record.buried = undefined;
      record.dueAt = Math.floor(now);
    }
    indexes.add(record);
  }
  return report;
}

function allIndexes(indexes: MessageIndexes): [name: string, index: OrderedIndex<MessageRecord>][] {
  const { waiting, leaseEnds, leased, dead } = indexes;
  return [
    ["waiting", waiting],
    ["leaseEnds", leaseEnds],
    ["leased", leased],
    ["dead", dead],
  ];
}
