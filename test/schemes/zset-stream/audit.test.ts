import { beforeEach, describe, expect, it } from "vitest";
import type { EngineQueue } from "../../../src/engine.js";
import { zsetStreamEngine } from "../../../src/engines/zset-stream/engine.js";
import { mismatches } from "../../../src/engines/zset-stream/scripts/audit-check.js";
import { read } from "../../source-files.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { withRedis } from "../../support/with-redis.js";

const redis = withRedis();
let names = 0;
let name: string;
let queue: EngineQueue;
beforeEach(async () => {
  name = `audit-${++names}`;
  queue = closedAtEnd(zsetStreamEngine({ url: redis.url })).open(name);
  await fill();
});

const key = (part: string) => `{punctual:${name}}:zset-stream:${part}`;
const own = (part: string) => key(`group:punctual:${part}`);
const run = (...command: (string | number | Uint8Array)[]) => redis.raw.command(...command);
const entryOf = async (id: string) => {
  const entries = (await redis.raw.text("XRANGE", key("stream"), "-", "+")) as [string, string[]][];
  return entries.find(([, [, member = ""]]) => member.endsWith(id))?.[0] ?? "";
};
/** The member of a zset that ends with an id. */
const memberOf = async (zset: string, id: string) => {
  const members = (await run("ZRANGE", zset, 0, -1)) as Buffer[];
  return members.find((member) => member.toString("latin1").endsWith(id)) ?? Buffer.alloc(0);
};

/** One message in each state: `later`, `held`, `waits`, `dead`. */
async function fill(): Promise<void> {
  const message = (id: string, delay = 0) => ({
    id,
    payload: Buffer.from(id),
    due: { delay },
    onDuplicate: "keep" as const,
  });
  await queue.schedule([message("held"), message("waits"), message("dead"), message("later", 60_000)]);
  const token = "token";
  const { messages, leaseUntil } = await queue.claim({ limit: 9, lease: 60_000, consumer: "one", token, attempts: 5 });
  const [, waits, dead] = messages.map(({ id }) => ({ id, token, leaseUntil }));
  await queue.retry([{ ...waits!, delay: 60_000 }]);
  await queue.bury([{ ...dead!, reason: "poison" }]);
}

const told = async () => (await queue.audit()).problems.map(({ kind, id }) => `${kind}: ${id}`);

/** How each kind comes about, what is told, and the states of all four messages after a repair. */
const damages: Record<string, { damage: () => Promise<unknown>; tells: string[]; leaves: Record<string, string> }> = {
  "schedule-without-message": {
    damage: () => run("HDEL", key("messages"), "later"),
    tells: ["schedule-without-message: later"],
    leaves: { held: "leased", waits: "scheduled", dead: "dead", later: "gone" },
  },
  "schedule-stale": {
    damage: () => run("ZADD", key("schedule"), 1, "0000000later"),
    tells: ["schedule-stale: later"],
    leaves: { held: "leased", waits: "scheduled", dead: "dead", later: "scheduled" },
  },
  "entry-without-message": {
    damage: () => run("XADD", key("stream"), "*", "m", "0000000nobody"),
    tells: ["entry-without-message: nobody"],
    leaves: { held: "leased", waits: "scheduled", dead: "dead", later: "scheduled" },
  },
  "moved-without-message": {
    damage: () => run("HDEL", key("messages"), "held"),
    tells: ["copy-without-message: held", "moved-without-message: held"],
    leaves: { held: "gone", waits: "scheduled", dead: "dead", later: "scheduled" },
  },
  "moved-without-entry": {
    damage: async () => run("XDEL", key("stream"), await entryOf("waits")),
    tells: ["moved-without-entry: waits"],
    leaves: { held: "leased", waits: "scheduled", dead: "dead", later: "scheduled" },
  },
  "message-in-two-indexes": {
    damage: async () => {
      const sequence = ((await run("HGET", key("messages"), "held")) as Buffer).subarray(0, 7);
      await run("ZADD", key("schedule"), 1, Buffer.concat([sequence, Buffer.from("held")]));
    },
    tells: ["message-in-two-indexes: held"],
    leaves: { held: "leased", waits: "scheduled", dead: "dead", later: "scheduled" },
  },
  "message-without-index": {
    damage: () => run("DEL", key("schedule")),
    tells: ["message-without-index: later"],
    leaves: { held: "leased", waits: "scheduled", dead: "dead", later: "due" },
  },
  "message-done": {
    damage: async () => {
      await run("XACK", key("stream"), "punctual", await entryOf("held"));
      await run("HDEL", own("copies"), "held");
      await run("ZREM", own("leases"), await memberOf(own("leases"), "held"));
    },
    tells: ["message-done: held"],
    leaves: { held: "gone", waits: "scheduled", dead: "dead", later: "scheduled" },
  },
  "lease-without-copy": {
    damage: () => run("ZADD", own("leases"), 9e15, "0000000held"),
    tells: ["lease-without-copy: held"],
    leaves: { held: "leased", waits: "scheduled", dead: "dead", later: "scheduled" },
  },
  "again-without-copy": {
    damage: () => run("ZADD", own("again"), 1, "0000000held"),
    tells: ["again-without-copy: held"],
    leaves: { held: "leased", waits: "scheduled", dead: "dead", later: "scheduled" },
  },
  "copy-stale": {
    damage: async () => {
      const value = (await run("HGET", own("copies"), "waits")) as Buffer;
      value.fill(1, 7, 14);
      await run("HSET", own("copies"), "waits", value);
      await run("XACK", key("stream"), "punctual", await entryOf("waits"));
    },
    tells: ["copy-stale: waits", "message-done: waits"],
    leaves: { held: "leased", waits: "gone", dead: "dead", later: "scheduled" },
  },
  "copy-without-state": {
    damage: () => run("DEL", own("leases")),
    tells: ["copy-without-state: held"],
    leaves: { held: "due", waits: "scheduled", dead: "dead", later: "scheduled" },
  },
  "copy-without-pending": {
    damage: async () => run("XACK", key("stream"), "punctual", await entryOf("held")),
    tells: ["copy-without-pending: held"],
    leaves: { held: "leased", waits: "scheduled", dead: "dead", later: "scheduled" },
  },
  "pending-without-copy": {
    damage: async () => {
      await run("HDEL", own("copies"), "waits");
      await run("ZREM", own("again"), await memberOf(own("again"), "waits"));
    },
    tells: ["pending-without-copy: waits"],
    leaves: { held: "leased", waits: "due", dead: "dead", later: "scheduled" },
  },
  "dead-without-copy": {
    damage: () => run("ZADD", own("dead"), 1, "later"),
    tells: ["dead-without-copy: later"],
    leaves: { held: "leased", waits: "scheduled", dead: "dead", later: "scheduled" },
  },
};

describe("An audit finds, and a repair mends,", () => {
  it.each(Object.entries(damages))("%s", async (_, { damage, tells, leaves }) => {
    expect(await told()).toEqual([]);
    await damage();
    expect((await told()).toSorted()).toEqual(tells);
    expect((await queue.repair()).problems.map(({ kind, id }) => `${kind}: ${id}`)).toEqual(
      expect.arrayContaining(tells),
    );
    expect(await told()).toEqual([]);
    const ids = Object.keys(leaves);
    // What was moved back to the schedule is moved and read again by the next claim.
    await queue.claim({ limit: 0, lease: 1_000, consumer: "two", token: "two", attempts: 5 });
    const found = await queue.get(ids);
    expect(Object.fromEntries(ids.map((id, index) => [id, found[index]?.state ?? "gone"]))).toEqual(leaves);
  });

  it("every kind but one that comes with another, each of which the page explains.", () => {
    const kinds = Object.keys(mismatches);
    const tested = Object.values(damages).flatMap(({ tells }) => tells.map((one) => one.split(":")[0]));
    expect(kinds.filter((kind) => !tested.includes(kind))).toEqual([]);
    const rows = [...read("docs/reference/engines/zset-stream.md").matchAll(/^\| `([a-z]+(?:-[a-z]+)+)` +\|/gm)].map(
      ([, kind]) => kind,
    );
    expect(rows.filter((kind) => kind !== undefined && kind in mismatches)).toEqual(kinds);
  });
});
