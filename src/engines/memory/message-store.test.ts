import { beforeEach, describe, expect, it } from "vitest";
import type { DueTime, NewMessage, Receipt } from "../../engine.js";
import { MessageStore } from "./message-store.js";

const start = 1_000_000;

function message(id: string, due: DueTime = { delay: 0 }, more: Partial<NewMessage> = {}): NewMessage {
  return { id, payload: Buffer.from(id), due, onDuplicate: "keep", ...more };
}

function receipt(id: string, token = "t"): Receipt {
  return { id, token, leaseUntil: 0 };
}

describe("the messages of a queue", () => {
  let store: MessageStore;

  beforeEach(() => {
    store = new MessageStore();
  });

  /** Leases the first message that is due for 1,000 ms; gives its id, or why it was buried instead. */
  function take(now = start, { token = "t", attempts = 5, lease = 1_000 } = {}): string | undefined {
    const record = store.peekDue(now);
    return record && (store.lease(record, token, now + lease, attempts, now)?.reason ?? record.id);
  }

  function takeAll(now: number): (string | undefined)[] {
    const ids: (string | undefined)[] = [];
    for (let id = take(now); id !== undefined; id = take(now)) ids.push(id);
    return ids;
  }

  /** Brings a message "m" into a state, as seen at `start`. */
  const states = {
    scheduled: () => store.schedule(message("m", { delay: 60_000 }), start),
    due: () => store.schedule(message("m"), start),
    leased: () => {
      states.due();
      take();
    },
    "leased too long": () => {
      store.schedule(message("m"), start - 2_000);
      take(start - 2_000);
    },
    "leased too long, for the last time": () => {
      store.schedule(message("m", { delay: 0 }, { attempts: 1 }), start - 2_000);
      take(start - 2_000);
    },
    dead: () => {
      states.leased();
      store.bury(receipt("m"), "broken", undefined, start);
    },
    absent: () => undefined,
  };
  type Prepared = keyof typeof states;

  describe("answers by the state that a message is in:", () => {
    it.each<[state: Prepared, keep: string, replace: string, cancel: string, reschedule: string, seen: string]>([
      ["scheduled", "duplicate", "replaced", "cancelled", "rescheduled", "scheduled"],
      ["due", "duplicate", "replaced", "cancelled", "rescheduled", "due"],
      ["leased", "duplicate", "leased", "leased", "leased", "leased"],
      ["leased too long", "duplicate", "replaced", "cancelled", "rescheduled", "due"],
      ["leased too long, for the last time", "duplicate", "replaced", "cancelled", "dead", "dead"],
      ["dead", "duplicate", "replaced", "cancelled", "dead", "dead"],
      ["absent", "scheduled", "scheduled", "absent", "absent", "nothing"],
    ])("%s", (state, keep, replace, cancel, reschedule, seen) => {
      /** The answer of one call, made to a message in this state. */
      function after(call: () => string): string {
        store = new MessageStore();
        states[state]();
        return call();
      }
      const later: DueTime = { delay: 5_000 };
      expect(after(() => store.schedule(message("m", later), start).outcome)).toBe(keep);
      expect(after(() => store.schedule(message("m", later, { onDuplicate: "replace" }), start).outcome)).toBe(replace);
      expect(after(() => store.cancel("m", start))).toBe(cancel);
      expect(after(() => store.reschedule("m", later, start))).toBe(reschedule);
      expect(after(() => store.get("m", start)?.state ?? "nothing")).toBe(seen);
      const counts = { scheduled: 0, due: 0, leased: 0, dead: 0 };
      after(() => "");
      expect(store.counts(start)).toEqual(seen === "nothing" ? counts : { ...counts, [seen]: 1 });
      after(() => store.cancel("m", start));
      expect(store.counts(start)).toEqual(cancel === "leased" ? { ...counts, leased: 1 } : counts);
    });
  });

  it("rounds due times up, and takes what has passed for now", () => {
    const dueAt = (due: DueTime) => store.schedule(message("m", due, { onDuplicate: "replace" }), start + 0.5).dueAt;
    expect(dueAt({ delay: 0.4 })).toBe(start + 1);
    expect(dueAt({ delay: 0 })).toBe(start);
    expect(dueAt({ delay: -1e15 })).toBe(start);
    expect(dueAt({ at: start - 5_000 })).toBe(start);
    expect(dueAt({ at: start + 10.1 })).toBe(start + 11);
    expect(dueAt({ delay: 8.64e15 })).toBe(8.64e15);
  });

  it("gives messages in due order, equal due times in the order in which they were scheduled", () => {
    const due = { at: start + 10 };
    for (const id of ["z", "a", "m"]) store.schedule(message(id, due), start);
    store.schedule(message("first", { at: start + 9 }), start);
    store.schedule(message("last", { at: start + 11 }), start);
    expect(takeAll(start + 9.9)).toEqual(["first"]);
    expect(takeAll(start + 11)).toEqual(["z", "a", "m", "last"]);
  });

  it("keeps a rescheduled, retried and released message in its place among equals, and puts a replaced one behind", () => {
    const due = { at: start + 10 };
    for (const id of ["released", "retried", "rescheduled", "replaced"]) store.schedule(message(id), start);
    expect(take()).toBe("released");
    expect(take()).toBe("retried");
    store.reschedule("rescheduled", due, start);
    store.schedule(message("replaced", due, { onDuplicate: "replace" }), start);
    store.schedule(message("later", due), start);
    store.retry(receipt("retried"), 10, undefined, start);
    store.release(receipt("released"), 10, start);
    expect(takeAll(start + 10)).toEqual(["released", "retried", "rescheduled", "replaced", "later"]);
  });

  it("replaces payload, options and attempts", () => {
    store.schedule(message("m", { delay: 0 }, { attempts: 2, headers: { a: "1" } }), start);
    take();
    store.retry(receipt("m"), 0, { name: "Error", message: "no" }, start);
    expect(store.get("m", start)).toMatchObject({ attempt: 1, lastError: { message: "no", at: start } });
    store.schedule({ ...message("m"), payload: Buffer.from("new"), onDuplicate: "replace" }, start);
    expect(store.get("m", start)).toEqual({
      id: "m",
      state: "due",
      payload: new Uint8Array(Buffer.from("new")),
      dueAt: start,
      attempt: 0,
    });
  });

  it("counts retries, reclaims and burials as attempts, but not releases", () => {
    store.schedule(message("m"), start);
    take();
    store.release(receipt("m"), undefined, start + 50);
    expect(store.get("m", start + 50)).toMatchObject({ attempt: 0, state: "due", dueAt: start });
    take();
    expect(store.get("m", start)).toMatchObject({ attempt: 1, state: "leased", leaseUntil: start + 1_000 });
    store.retry(receipt("m"), 100, undefined, start);
    expect(store.get("m", start)).toMatchObject({ attempt: 1, state: "scheduled", dueAt: start + 100 });
    take(start + 100);
    expect(store.reclaim(10, start + 1_200)).toEqual([]);
    expect(store.get("m", start + 1_200)).toMatchObject({ attempt: 2, state: "due", dueAt: start + 1_100 });
    take(start + 1_200);
    store.bury(receipt("m"), "enough", { name: "E", message: "x", stack: "s" }, start + 1_300.7);
    expect(store.get("m", start + 1_400)).toMatchObject({
      state: "dead",
      attempt: 3,
      dueAt: start + 1_100,
      lastError: { name: "E", message: "x", stack: "s", at: start + 1_300 },
      buried: { reason: "enough", at: start + 1_300 },
    });
  });

  it("buries after the last attempt by retry and by reclaim; the limit of the message is over that of the consumer", () => {
    store.schedule(message("retried", { delay: 0 }, { attempts: 1 }), start);
    store.schedule(message("reclaimed"), start);
    take(start, { attempts: 5 });
    take(start, { attempts: 1 });
    store.retry(receipt("retried"), 10, { name: "Error", message: "no" }, start);
    expect(store.get("retried", start)).toMatchObject({
      state: "dead",
      lastError: { message: "no" },
      buried: { reason: "attempts", at: start },
    });
    expect(store.reclaim(10, start + 999)).toEqual([]);
    expect(store.reclaim(10, start + 1_000)).toEqual([{ id: "reclaimed", reason: "attempts" }]);
    expect(store.get("reclaimed", start + 1_000)).toMatchObject({ state: "dead", attempt: 1 });
    expect(store.counts(start + 1_000)).toEqual({ scheduled: 0, due: 0, leased: 0, dead: 2 });
  });

  it("buries instead of delivering what has expired, and what was delivered as often as this consumer allows", () => {
    store.schedule(message("short", { delay: 10 }, { expiresIn: 5 }), start);
    store.schedule(message("in time", { delay: 11 }, { expiresIn: 5 }), start);
    expect(take(start + 16)).toBe("expired");
    expect(take(start + 16)).toBe("in time");
    store.retry(receipt("in time"), 0, undefined, start + 16);
    expect(take(start + 16, { attempts: 1 })).toBe("attempts");
    expect(store.get("short", start + 16)).toMatchObject({ state: "dead", attempt: 0, buried: { reason: "expired" } });
  });

  it("settles nothing for a token whose lease was settled, reclaimed, or never given", () => {
    const calls = [
      (lease: Receipt) => store.acknowledge(lease, start),
      (lease: Receipt) => store.retry(lease, 1_000, undefined, start),
      (lease: Receipt) => store.release(lease, undefined, start),
      (lease: Receipt) => store.bury(lease, "no", undefined, start),
      (lease: Receipt) => store.extend(lease, start + 50_000, start),
    ];
    store.schedule(message("m"), start);
    take(start, { token: "old" });
    store.reclaim(1, start + 1_000);
    take(start + 1_000, { token: "new" });
    const before = store.get("m", start + 1_000);
    for (const call of calls) {
      expect(call(receipt("m", "old"))).toBe(false);
      expect(call(receipt("m", "never given"))).toBe(false);
      expect(call(receipt("absent", "new"))).toBe(false);
    }
    expect(store.get("m", start + 1_000)).toEqual(before);
    expect(store.acknowledge(receipt("m", "new"), start)).toBe(true);
    expect(store.acknowledge(receipt("m", "new"), start)).toBe(false);
    expect(store.get("m", start)).toBeUndefined();
  });

  it("moves the deadline of a lease when it is extended", () => {
    store.schedule(message("m"), start);
    take();
    expect(store.nextLeaseEnd()).toBe(start + 1_000);
    store.extend(receipt("m"), start + 3_000, start);
    expect(store.nextLeaseEnd()).toBe(start + 3_000);
    store.reclaim(10, start + 2_999);
    expect(store.acknowledge(receipt("m"), start)).toBe(true);
    expect(store.nextLeaseEnd()).toBe(Infinity);
  });

  it("extends no lease whose deadline has passed, though nobody has reclaimed it", () => {
    store.schedule(message("m"), start);
    take();
    expect(store.extend(receipt("m"), start + 9_000, start + 1_000)).toBe(false);
    expect(store.nextLeaseEnd()).toBe(start + 1_000);
  });

  it("reclaims as many leases as it was told to, those that ended first before the others", () => {
    for (const id of ["a", "b", "c"]) store.schedule(message(id), start);
    for (const lease of [3, 1, 2]) take(start, { lease });
    store.reclaim(2, start + 5);
    expect(store.nextLeaseEnd()).toBe(start + 3);
    expect(takeAll(start + 5)).toEqual(["b", "c"]);
  });

  it("does not notice what callers do to their bytes and headers, nor they what it does", () => {
    const payload = Buffer.from([1, 2, 3]);
    const headers = { a: "1" };
    store.schedule({ ...message("m"), payload, headers }, start);
    payload[0] = 9;
    headers.a = "2";
    const read = store.get("m", start);
    expect(read).toMatchObject({ payload: new Uint8Array([1, 2, 3]), headers: { a: "1" } });
    read?.payload.fill(0);
    expect(store.get("m", start)?.payload).toEqual(new Uint8Array([1, 2, 3]));
  });
});
