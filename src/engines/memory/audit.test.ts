import { beforeEach, describe, expect, it } from "vitest";
import { MessageIndexes } from "./message-indexes.js";
import type { MessageRecord } from "./message-record.js";
import { MessageStore } from "./message-store.js";

const start = 1_000_000;

describe("an audit", () => {
  let indexes: MessageIndexes;
  let store: MessageStore;

  /** One message in each state, and two that are scheduled. */
  beforeEach(() => {
    indexes = new MessageIndexes();
    store = new MessageStore(undefined, indexes);
    const put = (id: string, delay: number) =>
      store.schedule({ id, payload: Buffer.from(id), due: { delay }, onDuplicate: "keep" }, start);
    for (const id of ["dead", "leased"]) {
      put(id, 0);
      const record = store.peekDue(start);
      if (record) store.lease(record, "t", start + 1_000, 5, start);
      if (id === "dead") store.bury({ id, token: "t", leaseUntil: start + 1_000 }, "poison", undefined, start);
    }
    put("due", 0);
    put("first", 10);
    put("second", 20);
  });

  function message(id: string): MessageRecord {
    const record = indexes.messages.get(id);
    if (!record) throw new Error(`no message ${id}`);
    return record;
  }

  function lost(id: string): MessageRecord {
    const record = message(id);
    indexes.messages.delete(id);
    return record;
  }

  it("finds nothing where all is well, and says how much it looked at", () => {
    // Five messages, an entry for each, and a second one for the leased.
    expect(store.audit()).toEqual({ ok: true, problems: [], checked: 11 });
  });

  it.each<[kind: string, id: string, plant: () => void]>([
    ["entry-without-message", "first", () => lost("first")],
    ["entry-without-message", "dead", () => lost("dead")],
    ["entry-without-message", "leased", () => lost("leased")],
    ["entry-without-message", "due", () => indexes.messages.set("due", { ...message("due") })],
    ["entry-elsewhere", "dead", () => indexes.waiting.add(message("dead"))],
    ["entry-elsewhere", "leased", () => indexes.waiting.add(message("leased"))],
    ["entry-elsewhere", "second", () => indexes.leased.add(message("second"))],
    ["entry-out-of-order", "second", () => (message("first").dueAt += 1_000)],
    ["entry-out-of-order", "first", () => indexes.waiting.add(message("first"))],
    ["message-without-entry", "first", () => indexes.waiting.remove(message("first"))],
    ["message-without-entry", "leased", () => indexes.leaseEnds.remove(message("leased"))],
    ["message-without-entry", "leased", () => indexes.leased.remove(message("leased"))],
    ["message-without-entry", "dead", () => indexes.dead.remove(message("dead"))],
  ])("finds %s of %s, which repair mends without touching the others", (kind, id, plant) => {
    const others = ["dead", "leased", "due", "first", "second"].filter((other) => other !== id && other !== "first");
    const before = others.map((other) => store.get(other, start));
    plant();
    const found = store.audit();
    expect(found).toMatchObject({
      ok: false,
      problems: expect.arrayContaining([expect.objectContaining({ kind, id })]),
    });
    expect(found.problems.every((problem) => problem.id === id)).toBe(true);
    expect(store.repair(start + 5)).toEqual(found);
    expect(store.audit()).toMatchObject({ ok: true, problems: [] });
    expect(others.map((other) => store.get(other, start))).toEqual(before);
    expect(store.repair(start + 5)).toMatchObject({ ok: true });
  });

  it.each(["second", "dead"])("has a message that is in no index due at once: %s", (id) => {
    const { waiting, dead } = indexes;
    for (const index of [waiting, dead]) index.remove(message(id));
    store.repair(start + 5.5);
    expect(store.get(id, start + 6)).toMatchObject({ state: "due", dueAt: start + 5 });
  });

  it("leaves a lease whose second entry is missing to its holder", () => {
    indexes.leased.remove(message("leased"));
    store.repair(start + 5);
    expect(store.get("leased", start + 5)).toMatchObject({ state: "leased", leaseUntil: start + 1_000 });
    expect(store.acknowledge({ id: "leased", token: "t", leaseUntil: start + 1_000 }, start + 5)).toBe(true);
    expect(store.audit().ok).toBe(true);
  });

  it("tells of 1,000 problems at most", () => {
    for (let n = 0; n < 1_200; n++) {
      store.schedule({ id: `${n}`, payload: new Uint8Array(), due: { delay: 1 }, onDuplicate: "keep" }, start);
      lost(`${n}`);
    }
    expect(store.audit().problems).toHaveLength(1_000);
    store.repair(start);
    expect(store.counts(start)).toEqual({ scheduled: 2, due: 1, leased: 1, dead: 1 });
  });
});
