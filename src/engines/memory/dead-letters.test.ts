import { describe, expect, it } from "vitest";
import type { DeadLetterBounds } from "../../dead-letter-bounds.js";
import type { NewMessage } from "../../engine.js";
import { MessageStore } from "./message-store.js";

const start = 1_000_000;

function newStore(bounds: Partial<DeadLetterBounds> = {}): MessageStore {
  return new MessageStore({ max: undefined, maxAge: undefined, ...bounds });
}

function put(store: MessageStore, id: string, now = start, more: Partial<NewMessage> = {}): void {
  store.schedule({ id, payload: Buffer.from(id), due: { at: now }, onDuplicate: "keep", ...more }, now);
}

/** Schedules a message that is due before all others, and leases it. */
function lease(store: MessageStore, id: string, now = start, more: Partial<NewMessage> = {}): void {
  put(store, id, now, more);
  const record = store.peekDue(now);
  if (record) store.lease(record, "t", now + 1_000, 5, now);
}

function bury(store: MessageStore, id: string, now = start, more: Partial<NewMessage> = {}): void {
  lease(store, id, now, more);
  store.bury({ id, token: "t", leaseUntil: 0 }, "poison", { name: "E", message: "no" }, now);
}

function idsOf(store: MessageStore, state: "due" | "dead", now = start): string[] {
  return store.list({ state, limit: 100 }, now).messages.map(({ id }) => id);
}

describe("dead letters", () => {
  it("are revived with attempts counted anew and no expiry, behind those with their due time", () => {
    const store = newStore();
    bury(store, "a", start, { attempts: 2, expiresIn: 10, headers: { h: "1" } });
    put(store, "b", start + 5);
    expect(store.revive(["a"], { at: start + 5 }, start)).toBe(1);
    expect(store.get("a", start)).toEqual({
      id: "a",
      state: "scheduled",
      payload: new Uint8Array(Buffer.from("a")),
      dueAt: start + 5,
      attempt: 0,
      headers: { h: "1" },
    });
    expect(idsOf(store, "due", start + 50_000)).toEqual(["b", "a"]);
    const [, record] = [store.cancel("b", start), store.peekDue(start + 50_000)];
    expect(record && store.lease(record, "t", start + 60_000, 9, start + 50_000)).toBeUndefined();
    expect(record?.lease?.attempts).toBe(2);
    expect(store.audit().problems).toEqual([]);
  });

  it("are revived and removed once, and nothing else is", () => {
    for (const call of ["revive", "remove"] as const) {
      const store = newStore();
      bury(store, "dead");
      lease(store, "exhausted", start, { attempts: 1 });
      lease(store, "ended");
      lease(store, "leased", start + 500);
      put(store, "waiting", start + 500);
      const ids = ["dead", "dead", "absent", "exhausted", "ended", "leased", "waiting"];
      const now = start + 1_000;
      expect(call === "remove" ? store.remove(ids, now) : store.revive(ids, { at: now }, now)).toBe(2);
      expect(idsOf(store, "dead", now)).toEqual([]);
      const due = ["waiting", "ended"];
      expect(idsOf(store, "due", now)).toEqual(call === "remove" ? due : [...due, "dead", "exhausted"]);
      expect(store.acknowledge({ id: "exhausted", token: "t", leaseUntil: 0 }, now)).toBe(false);
      expect(store.acknowledge({ id: "leased", token: "t", leaseUntil: 0 }, now)).toBe(true);
      expect(store.audit().problems).toEqual([]);
    }
  });

  it("are all revived in the order in which they were buried", () => {
    const store = newStore();
    for (const id of ["c", "a", "b"]) bury(store, id, start + id.charCodeAt(0) - 97);
    expect(store.revive("all", { delay: 0 }, start + 10)).toBe(3);
    expect(idsOf(store, "due", start + 10)).toEqual(["a", "b", "c"]);
    expect(store.revive("all", { delay: 0 }, start + 10)).toBe(0);
  });

  it("and what waits are purged apart from each other, those whose lease has ended with them", () => {
    for (const what of ["waiting", "dead"] as const) {
      const store = newStore();
      bury(store, "dead");
      lease(store, "exhausted", start, { attempts: 1 });
      lease(store, "ended");
      lease(store, "leased", start + 500);
      put(store, "due", start + 500);
      put(store, "scheduled", start + 5_000);
      expect(store.purge(what, start + 1_000)).toBe(what === "dead" ? 2 : 3);
      expect(store.counts(start + 1_000)).toEqual(
        what === "dead" ? { scheduled: 1, due: 2, leased: 1, dead: 0 } : { scheduled: 0, due: 0, leased: 1, dead: 2 },
      );
      expect(store.audit().problems).toEqual([]);
    }
  });

  it("over the number fall out, the oldest first, and are told once", () => {
    const store = newStore({ max: 2 });
    for (const id of ["a", "b"]) bury(store, id);
    expect(store.takeDropped()).toBeUndefined();
    for (const id of ["c", "d"]) bury(store, id, start + 1);
    expect(store.takeDropped()).toEqual({ ids: ["a", "b"], total: 2 });
    expect(store.takeDropped()).toBeUndefined();
    bury(store, "e", start + 2);
    expect(store.takeDropped()).toEqual({ ids: ["c"], total: 3 });
    expect(idsOf(store, "dead", start + 2)).toEqual(["d", "e"]);
    expect(store.audit().problems).toEqual([]);
  });

  it("that are too old fall out when another one is buried, in whatever way", () => {
    const ways = {
      bury: (store: MessageStore, now: number) => bury(store, "new", now),
      retry(store: MessageStore, now: number) {
        lease(store, "new", now, { attempts: 1 });
        store.retry({ id: "new", token: "t", leaseUntil: 0 }, 0, undefined, now);
      },
      reclaim(store: MessageStore, now: number) {
        lease(store, "new", now - 1_000, { attempts: 1 });
        store.reclaim(1, now);
      },
      expire(store: MessageStore, now: number) {
        lease(store, "new", now - 10, { due: { at: now - 10 }, expiresIn: 0 });
        store.release({ id: "new", token: "t", leaseUntil: 0 }, undefined, now);
        const record = store.peekDue(now);
        if (record) store.lease(record, "t", now + 1_000, 5, now);
      },
    };
    for (const way of Object.values(ways)) {
      const store = newStore({ maxAge: 5_000 });
      bury(store, "old", start);
      bury(store, "young", start + 1);
      way(store, start + 5_000);
      expect(store.takeDropped()).toEqual({ ids: ["old"], total: 1 });
      expect(idsOf(store, "dead", start + 5_000)).toEqual(["young", "new"]);
    }
  });

  it.each<[how: string, go: (store: MessageStore) => void]>([
    ["acknowledged", (store) => store.acknowledge({ id: "m", token: "t", leaseUntil: 0 }, start)],
    [
      "cancelled",
      (store) => (store.release({ id: "m", token: "t", leaseUntil: 0 }, 5, start), store.cancel("m", start)),
    ],
    ["removed", (store) => store.remove(["m"], start + 1_000)],
    ["purged", (store) => store.purge("dead", start + 1_000)],
  ])("and others whose message was %s are remembered as long as was asked for", (_, go) => {
    const store = newStore();
    store.rememberFor(500);
    lease(store, "m", start, { attempts: 1 });
    go(store);
    const message = { id: "m", payload: new Uint8Array(), due: { delay: 0 } };
    const wentAt = store.schedule({ ...message, onDuplicate: "replace" }, start + 499).dueAt;
    expect(store.schedule({ ...message, onDuplicate: "keep" }, wentAt + 499).outcome).toBe("duplicate");
    expect(store.get("m", start + 499)).toBeUndefined();
    expect(store.schedule({ ...message, onDuplicate: "keep" }, wentAt + 500).outcome).toBe("scheduled");
  });

  it("that are replaced or revived are not gone", () => {
    const store = newStore();
    store.rememberFor(500);
    bury(store, "m");
    const message = { id: "m", payload: new Uint8Array(), due: { delay: 0 } };
    expect(store.schedule({ ...message, onDuplicate: "replace" }, start).outcome).toBe("replaced");
    expect(store.cancel("m", start)).toBe("cancelled");
    expect(store.schedule({ ...message, onDuplicate: "replace" }, start).outcome).toBe("duplicate");
  });
});
