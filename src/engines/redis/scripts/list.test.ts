import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import type { ListQuery, NewMessage, StoredMessage } from "../../../engine.js";
import { cancel } from "./cancel.js";
import { get } from "./get.js";
import { list } from "./list.js";
import { reclaim } from "./reclaim.js";
import { schedule } from "./schedule.js";

let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

type State = ListQuery["state"];
const listing = (queue: RawQueue, query: ListQuery) => list(bench.evaluator, queue.keys, query);
const idsIn = (messages: readonly StoredMessage[]) => messages.map(({ id }) => id);

/** Pages through to the end; `between` runs after each page. */
async function paged(
  queue: RawQueue,
  state: State,
  limit: number,
  between: (page: number, seen: readonly string[]) => Promise<unknown> = async () => undefined,
): Promise<string[]> {
  const seen: string[] = [];
  let cursor: string | undefined;
  for (let page = 1; ; page++) {
    const { messages, cursor: next } = await listing(queue, { state, limit, cursor });
    expect(messages.length).toBeLessThanOrEqual(limit);
    seen.push(...idsIn(messages));
    if (next === undefined) return seen;
    cursor = next;
    await between(page, seen);
  }
}

const message = (id: string, at: number): NewMessage => ({
  id,
  payload: Buffer.from(id),
  due: { at },
  onDuplicate: "keep",
});
const buried = async (queue: RawQueue, id: string, at: number, payload?: Buffer) => {
  await queue.stored(id, payload ? { payload } : {});
  await queue.failed(id, 1);
  await bench.raw.command("ZADD", queue.keys.dead, at, id);
};

async function inEveryState(): Promise<{ queue: RawQueue; now: number }> {
  const queue = bench.queue();
  const now = await bench.now();
  const lease = { token: "t", attempts: 2 };
  const far = now + 60_000;
  await queue.scheduled("s2", far + 1, { headers: { a: "1" } });
  await queue.scheduled("s1", far);
  await queue.leased("l2", { ...lease, until: far, due: now - 50 });
  await queue.leased("ended", { ...lease, until: now - 8, due: now - 90 });
  await queue.scheduled("d1", now - 9);
  await queue.scheduled("d2", now - 7);
  await queue.failed("d1", 1, `{"name":"E","message":"m"}`, 7);
  // Its last attempt, but that is not over.
  await queue.leased("l1", { ...lease, until: far + 9, due: now - 60, attempts: 1 });
  await queue.leased("spent", { ...lease, until: now - 20, due: now - 90 });
  await queue.failed("spent", 1);
  await buried(queue, "x2", now - 10);
  await buried(queue, "x1", now - 30);
  return { queue, now };
}

describe("list", () => {
  it.each([
    ["scheduled", ["s1", "s2"]],
    ["due", ["d1", "ended", "d2"]],
    ["leased", ["l1", "l2"]],
    ["dead", ["x1", "spent", "x2"]],
  ] as const)("gives what is %s in order, as get does, a page at a time", async (state, ids) => {
    const { queue } = await inEveryState();
    const { messages, cursor } = await listing(queue, { state, limit: 10 });
    expect(idsIn(messages)).toEqual(ids);
    expect(messages).toEqual(await get(bench.evaluator, queue.keys, ids));
    expect(messages.every((one) => one.state === state)).toBe(true);
    expect(cursor).toBeUndefined();
    for (const limit of [1, 2]) expect(await paged(queue, state, limit)).toEqual(ids);
  });

  it.each(["scheduled", "due", "leased", "dead"] as const)("gives no %s message of an empty queue", async (state) => {
    expect(await listing(bench.queue(), { state, limit: 10 })).toEqual({ messages: [], cursor: undefined });
  });

  it("keeps to a range of times, both ends included", async () => {
    const { queue, now } = await inEveryState();
    const found = async (state: State, from?: number, to?: number) =>
      idsIn((await listing(queue, { state, limit: 10, from, to })).messages);
    expect(await found("scheduled", now + 60_000, now + 60_000)).toEqual(["s1"]);
    expect(await found("scheduled", now + 60_000.5)).toEqual(["s2"]);
    expect(await found("due", now - 9, now - 8)).toEqual(["d1", "ended"]);
    expect(await found("due", undefined, now - 9)).toEqual(["d1"]);
    expect(await found("leased", now - 50)).toEqual(["l2"]);
    expect(await found("leased", undefined, now - 60)).toEqual(["l1"]);
    expect(await found("dead", now - 20, now - 20)).toEqual(["spent"]);
    expect(await found("dead", now - 19)).toEqual(["x2"]);
    for (const state of ["scheduled", "due", "leased", "dead"] as const) {
      expect(await found(state, undefined, -1)).toEqual([]);
      expect(await found(state, 9e15)).toEqual([]);
      expect(await found(state, now, now - 1)).toEqual([]);
    }
  });

  it("neither skips nor repeats what stays, among equal times, while messages come and go", async () => {
    const queue = bench.queue();
    const names = Array.from({ length: 60 }, (_, n) => `m${n}`);
    await schedule(
      bench.evaluator,
      queue.keys,
      names.map((id) => message(id, 9e12)),
    );
    const gone = new Set<string>();
    const seen = await paged(queue, "scheduled", 7, async (page, sofar) => {
      const behind = sofar.at(-1) ?? "";
      // The one at which the cursor stands, one before it and one after it.
      const leaving = [behind, `m${page}`, `m${59 - page}`];
      for (const id of leaving) if (!sofar.includes(id)) gone.add(id);
      await cancel(bench.evaluator, queue.keys, leaving);
      await schedule(bench.evaluator, queue.keys, [message(`before${page}`, 8e12), message(`after${page}`, 9e12)]);
    });
    const expected = names.filter((id) => !gone.has(id));
    expect(seen.filter((id) => id.startsWith("m"))).toEqual(expected);
    expect(seen.filter((id) => id.startsWith("before"))).toEqual([]);
    expect(new Set(seen).size).toBe(seen.length);
  });

  it("pages through 100,000 equal times in the order of scheduling", async () => {
    const queue = bench.queue();
    const count = 100_000;
    await schedule(
      bench.evaluator,
      queue.keys,
      Array.from({ length: count }, (_, n) => message(`m${n}`, 9e12)),
    );
    const seen = await paged(queue, "scheduled", 1_000);
    expect(seen).toHaveLength(count);
    expect(seen.every((id, n) => id === `m${n}`)).toBe(true);
  });

  it("puts leases that ended in one ms in the order of scheduling, among what is due then, however many they are", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    const lease = { due: now - 900, token: "t" };
    const expected: string[] = [];
    for (let n = 0; n < 200; n++) {
      // Against the order of ids, in which Redis has them.
      const id = `m${299 - n}`;
      if (n % 4 === 0) await queue.scheduled(id, now - 100);
      // The last attempt: dead.
      else await queue.leased(id, { ...lease, until: now - 100, attempts: n % 4 === 3 ? 1 : 5 });
      if (n % 4 !== 3) expected.push(id);
    }
    await queue.leased("later", { ...lease, until: now - 50, attempts: 5 });
    await queue.scheduled("latest", now - 40);
    for (const limit of [1, 2, 7, 100]) {
      expect(await paged(queue, "due", limit)).toEqual([...expected, "later", "latest"]);
    }
    expect(await paged(queue, "dead", 3)).toEqual(Array.from({ length: 50 }, (_, n) => `m${100 + 4 * n}`));
  });

  it("does not give a message again that was reclaimed while somebody pages", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    const expected: string[] = [];
    for (let n = 0; n < 30; n++) {
      const id = `m${99 - n}`;
      await queue.leased(id, { until: now - 100 + (n % 3 === 0 ? 0 : n), due: 1, token: "t", attempts: 5 });
      expected.push(id);
    }
    const order = (await listing(queue, { state: "due", limit: 100 })).messages;
    const seen = await paged(queue, "due", 4, async (page) => {
      if (page === 2) await reclaim(bench.evaluator, queue.keys);
    });
    expect(seen).toEqual(idsIn(order));
    expect(seen.toSorted()).toEqual(expected.toSorted());
  });

  it("orders dead letters of one ms by the bytes of their ids, those with ended leases among them", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    const ids = ["B", "a", "a b", "ab", "b", "z", "Ä", "ä", "\u{1F600}"];
    for (const [n, id] of ids.entries()) {
      if (n % 2 === 0) await buried(queue, id, now - 5);
      else await queue.leased(id, { until: now - 5, due: 1, token: "t", attempts: 1 });
    }
    for (const limit of [1, 2, 100]) expect(await paged(queue, "dead", limit)).toEqual(ids);
  });

  it("finds leases by due time, in pages, while others are given and end", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    const until = now + 60_000;
    for (let n = 0; n < 600; n++)
      await queue.leased(`m${n}`, { until, due: now - 600 + (n % 7), token: "t", attempts: 5 });
    const expected = Array.from({ length: 600 }, (_, n) => n).toSorted((a, b) => (a % 7) - (b % 7) || a - b);
    const gone = new Set<string>();
    const seen = await paged(queue, "leased", 50, async (page, sofar) => {
      for (const id of [sofar.at(-1) ?? "", `m${600 - page}`]) {
        if (!sofar.includes(id)) gone.add(id);
        await bench.raw.command("HDEL", queue.keys.leased, id);
      }
      await queue.leased(`new${page}`, { until, due: now - 599 + page, token: "t", attempts: 5 });
    });
    const stayed = seen.filter((id) => id.startsWith("m"));
    expect(stayed).toEqual(expected.map((n) => `m${n}`).filter((id) => !gone.has(id)));
    expect(new Set(seen).size).toBe(seen.length);
  });

  it.each(["scheduled", "leased", "dead"] as const)("ends a page of %s messages at about 1 MiB", async (state) => {
    const queue = bench.queue();
    const payload = Buffer.alloc(1 << 20, 7);
    const ids = ["a", "b", "c"];
    for (const id of ids) {
      const lease = { until: 9e12, due: 1, token: "t", attempts: 5 };
      if (state === "scheduled") await queue.scheduled(id, 9e12, { payload });
      else if (state === "leased") await queue.leased(id, lease, { payload });
      else await buried(queue, id, 5, payload);
    }
    const { messages, cursor } = await listing(queue, { state, limit: 10 });
    expect(idsIn(messages)).toEqual(["a"]);
    expect(payload.equals(messages[0]?.payload ?? Buffer.alloc(0))).toBe(true);
    expect(cursor).toBeDefined();
    expect(await paged(queue, state, 10)).toEqual(ids);
  });

  it("counts what is known of failures into its budget", async () => {
    const queue = bench.queue();
    const ids = Array.from({ length: 400 }, (_, n) => `m${n}`);
    for (const id of ids) {
      await queue.scheduled(id, 9e12);
      await queue.failed(id, 1, JSON.stringify({ name: "E", message: "x".repeat(9_000) }), 1);
    }
    await bench.raw.command("CONFIG", "RESETSTAT");
    expect(await paged(queue, "scheduled", 1_000)).toEqual(ids);
    // 250 in a call would take 2.
    expect(await bench.raw.text("INFO", "commandstats")).toMatch(/cmdstat_evalsha:calls=50,/);
  });

  it("passes over entries without their message", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    for (let n = 0; n < 9; n++) {
      await queue.scheduled(`s${n}`, 9e12);
      await queue.leased(`l${n}`, { until: now - 5, due: 1, token: "t", attempts: 5 });
      await buried(queue, `x${n}`, now - 5);
    }
    for (const n of [0, 1, 2, 4, 8]) {
      await bench.raw.command("HDEL", queue.keys.messages, `s${n}`, `x${n}`);
      await bench.raw.command("HDEL", queue.keys.leased, `l${n}`);
    }
    // The id was scheduled anew, and this entry was left over.
    const stale = Buffer.concat([Buffer.alloc(7, 1), Buffer.from("s5")]);
    await bench.raw.command("ZADD", queue.keys.schedule, 8e12, stale);
    for (const limit of [1, 2, 10]) {
      expect(await paged(queue, "scheduled", limit)).toEqual(["s3", "s5", "s6", "s7"]);
      expect(await paged(queue, "due", limit)).toEqual(["l3", "l5", "l6", "l7"]);
      expect(await paged(queue, "dead", limit)).toEqual(["x3", "x5", "x6", "x7"]);
    }
  });

  it("is open to a user who may only read", async () => {
    const { queue } = await inEveryState();
    const rules = ["on", "nopass", "~*", "-@all", "+@read", "+evalsha", "+time"];
    await bench.raw.command("ACL", "SETUSER", "default", "reset", ...rules, "+acl");
    try {
      for (const state of ["scheduled", "due", "leased", "dead"] as const) {
        expect((await listing(queue, { state, limit: 1 })).messages).toHaveLength(1);
      }
    } finally {
      await bench.raw.command("ACL", "SETUSER", "default", "reset", "on", "nopass", "~*", "&*", "+@all");
    }
  });

  it("refuses a cursor that it did not give for this state", async () => {
    const { queue } = await inEveryState();
    const { cursor } = await listing(queue, { state: "due", limit: 1 });
    expect(cursor).toBeDefined();
    const dead = (await listing(queue, { state: "dead", limit: 1 })).cursor;
    for (const wrong of ["", "x", `${cursor}A`, `${cursor}=`, cursor!.slice(2), dead!, "d".repeat(5_000), "\0"]) {
      await expect(listing(queue, { state: "due", limit: 1, cursor: wrong })).rejects.toMatchObject({
        code: "invalid-argument",
        details: { argument: "cursor" },
      });
    }
    for (const state of ["scheduled", "leased", "dead"] as const) {
      await expect(listing(queue, { state, limit: 1, cursor })).rejects.toMatchObject({ code: "invalid-argument" });
    }
  });
});
