import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import type { ListQuery, MessageState, StoredMessage } from "../../engine.js";
import { MessageStore } from "./message-store.js";

const start = 1_000_000;
const states = ["scheduled", "due", "leased", "dead"] as const;

describe("a list of messages", () => {
  let store: MessageStore;

  beforeEach(() => {
    store = new MessageStore();
  });

  function put(id: string, due = start, attempts?: number): void {
    store.schedule({ id, payload: Buffer.from(id), due: { at: due }, onDuplicate: "keep", attempts }, start);
  }

  /** Leases the first message that is due, until `until`. */
  function take(until: number, now = start): void {
    const record = store.peekDue(now);
    if (record) store.lease(record, "t", until, 5, now);
  }

  function bury(id: string, now: number): void {
    store.bury({ id, token: "t", leaseUntil: 0 }, "poison", undefined, now);
  }

  function idsOf(state: MessageState, now: number, more: Partial<ListQuery> = {}): string[] {
    return store.list({ state, limit: 100, ...more }, now).messages.map(({ id }) => id);
  }

  /** All pages, and how many there were. */
  function pages(state: MessageState, limit: number, now: number): StoredMessage[][] {
    const all: StoredMessage[][] = [];
    let cursor: string | undefined;
    do {
      const page = store.list({ state, limit, cursor }, now);
      all.push([...page.messages]);
      // Else a list that does not move on would be read for ever.
      if (page.cursor !== undefined && page.cursor === cursor) throw new Error("the list does not move on");
      cursor = page.cursor;
    } while (cursor !== undefined);
    return all;
  }

  it("has scheduled and due ones by due time and then in the order of scheduling, each at its own side of now", () => {
    for (const [id, due] of [
      ["z", 5],
      ["a", 5],
      ["m", 4],
      ["y", 6],
    ] as const)
      put(id, start + due);
    expect(idsOf("scheduled", start)).toEqual(["m", "z", "a", "y"]);
    expect(idsOf("scheduled", start + 5)).toEqual(["y"]);
    expect(idsOf("due", start + 5)).toEqual(["m", "z", "a"]);
  });

  it("has leased ones by the time at which they were due, not by when their leases end", () => {
    for (const [id, until] of [
      ["a", 3_000],
      ["b", 1_000],
      ["c", 2_000],
    ] as const) {
      put(id);
      take(start + until);
    }
    expect(idsOf("leased", start)).toEqual(["a", "b", "c"]);
    expect(idsOf("leased", start + 1_000)).toEqual(["a", "c"]);
  });

  it("has dead ones by the time of burial and then by the bytes of their ids", () => {
    // In UTF-16 the emoji would come before the letter.
    for (const id of ["later", "\uFF21", "\u{1F389}", "a"]) {
      put(id);
      take(start + 1_000);
    }
    for (const id of ["\u{1F389}", "\uFF21", "a"]) bury(id, start + 5);
    bury("later", start + 6);
    expect(idsOf("dead", start + 10)).toEqual(["a", "\uFF21", "\u{1F389}", "later"]);
    const alone = pages("dead", 1, start + 10).map((page) => page.map(({ id }) => id));
    expect(alone).toEqual([["a"], ["\uFF21"], ["\u{1F389}"], ["later"]]);
  });

  it("has those whose lease has ended where they will be once they are reclaimed", () => {
    put("last", start, 1);
    put("again");
    put("buried");
    for (const until of [20, 30, 1_000]) take(start + until);
    bury("buried", start + 25);
    put("due", start + 25);
    put("as early", start + 30);
    expect(idsOf("leased", start + 40)).toEqual([]);
    expect(idsOf("due", start + 40)).toEqual(["due", "again", "as early"]);
    expect(idsOf("dead", start + 40)).toEqual(["last", "buried"]);
    const seen = states.map((state) => store.list({ state, limit: 9 }, start + 40));
    store.reclaim(10, start + 40);
    expect(states.map((state) => store.list({ state, limit: 9 }, start + 40))).toEqual(seen);
  });

  it.each<[range: Partial<ListQuery>, ids: string[]]>([
    [{ from: start + 2 }, ["2", "3", "4"]],
    [{ to: start + 2 }, ["1", "2"]],
    [{ from: start + 2, to: start + 3 }, ["2", "3"]],
    [{ from: start + 5 }, []],
    [{ from: start + 3, to: start + 2 }, []],
  ])("keeps to a range, both ends included: %j", (range, ids) => {
    for (const n of [4, 2, 1, 3]) put(`${n}`, start + n);
    expect(idsOf("scheduled", start, range)).toEqual(ids);
    expect(idsOf("due", start + 9, range)).toEqual(ids);
  });

  it("has a cursor only where there is more", () => {
    for (const id of ["a", "b", "c", "d"]) put(id);
    expect(pages("due", 2, start).map((page) => page.map(({ id }) => id))).toEqual([
      ["a", "b"],
      ["c", "d"],
    ]);
    expect(store.list({ state: "due", limit: 4 }, start).cursor).toBeUndefined();
    const { cursor } = store.list({ state: "due", limit: 2 }, start);
    expect(store.list({ state: "due", limit: 9, cursor, to: start - 1 }, start)).toEqual({
      messages: [],
      cursor: undefined,
    });
  });

  it("goes on behind a message that is not there any more", () => {
    for (const id of ["a", "b", "c", "d"]) put(id);
    const { cursor } = store.list({ state: "due", limit: 2 }, start);
    for (const id of ["a", "b", "c"]) store.cancel(id, start);
    put("e");
    expect(idsOf("due", start, { cursor })).toEqual(["d", "e"]);
  });

  it.each(["", "x", "bnVsbA", Buffer.from('["due","1",1]').toString("base64url")])(
    "refuses what is no cursor: %j",
    (cursor) => {
      expect(() => store.list({ state: "due", limit: 1, cursor }, start)).toThrow(
        expect.objectContaining({ code: "invalid-argument", details: { argument: "cursor" } }),
      );
    },
  );

  it.each(["=", "==", " ", "\n", "!"])("refuses a cursor with %j behind it", (more) => {
    for (const id of ["a", "b"]) put(id);
    const { cursor } = store.list({ state: "due", limit: 1 }, start);
    expect(idsOf("due", start, { cursor })).toEqual(["b"]);
    expect(() => store.list({ state: "due", limit: 1, cursor: `${cursor}${more}` }, start)).toThrow(
      expect.objectContaining({ code: "invalid-argument", details: { argument: "cursor" } }),
    );
  });

  it("refuses the cursor of another state", () => {
    for (const id of ["a", "b"]) put(id);
    const { cursor } = store.list({ state: "due", limit: 1 }, start);
    for (const state of ["scheduled", "leased", "dead"] as const) {
      expect(() => store.list({ state, limit: 1, cursor }, start)).toThrow(
        `accepted is the cursor of a page of ${state} messages`,
      );
    }
  });

  it("shows each message once in the state that `get` says, whatever happened before, page by page", () => {
    const step = fc.record({
      what: fc.constantFrom("put", "take", "bury", "retry", "reclaim"),
      id: fc.nat(15),
      time: fc.nat(60),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 7 }), (steps, limit) => {
        store = new MessageStore();
        let now = start;
        for (const { what, id, time } of steps) {
          now += time % 7;
          if (what === "put") put(`${id}`, now + time - 20, (time % 2) + 1);
          if (what === "take") take(now + (time % 20), now);
          if (what === "bury") bury(`${id}`, now);
          if (what === "retry") store.retry({ id: `${id}`, token: "t", leaseUntil: 0 }, time, undefined, now);
          if (what === "reclaim") store.reclaim(2, now);
        }
        const all = Array.from({ length: 16 }, (_, id) => store.get(`${id}`, now)).filter(
          (found) => found !== undefined,
        );
        for (const state of states) {
          const listed = pages(state, limit, now);
          expect(listed.slice(0, -1).every((page) => page.length === limit)).toBe(true);
          const messages = listed.flat();
          const expected = all.filter((message) => message.state === state);
          const byId = (a: StoredMessage, b: StoredMessage) => (a.id < b.id ? -1 : 1);
          expect(messages.toSorted(byId)).toEqual(expected.toSorted(byId));
          const times = messages.map((message) => message.buried?.at ?? message.dueAt);
          expect(times).toEqual(times.toSorted((a, b) => a - b));
          expect(store.counts(now)[state]).toBe(messages.length);
        }
        expect(store.audit().problems).toEqual([]);
      }),
    );
  });
});
