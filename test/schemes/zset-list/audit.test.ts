import { describe, expect, it, onTestFinished } from "vitest";
import { zsetListEngine } from "../../../src/engines/zset-list/engine.js";
import { newMessage } from "../../../src/testing/conformance/stage.js";
import { withRedis } from "../../support/with-redis.js";

const redis = withRedis();
let queues = 0;

/** A queue with one message in each place, and two claimed and ended. */
async function full() {
  const engine = zsetListEngine({ url: redis.url, reliable: true });
  onTestFinished(() => engine.close());
  const name = `audit-${++queues}`;
  const queue = engine.open(name);
  const claim = (token: string, limit: number) =>
    queue.claim({ limit, lease: 60_000, consumer: "worker", token, attempts: 5 });
  const receipts = (ids: readonly string[], token: string) => ids.map((id) => ({ id, token, leaseUntil: 0 }));
  await queue.schedule(["dead", "failed"].map((id) => newMessage(id)));
  await claim("first", 2);
  await queue.bury(receipts(["dead"], "first").map((receipt) => ({ ...receipt, reason: "poison" })));
  await queue.retry(receipts(["failed"], "first").map((receipt) => ({ ...receipt, delay: 3_600_000 })));
  await queue.schedule(["leased", "listed"].map((id) => newMessage(id)));
  await queue.schedule([newMessage("later", { due: { delay: 3_600_000 } })]);
  await claim("second", 1);
  const key = (part: string) => `{punctual:${name}}:zset-list:reliable:${part}`;
  return { queue, key, claim };
}

const plants: Record<string, (key: (part: string) => string) => readonly (readonly (string | number)[])[]> = {
  "schedule-without-message": (key) => [["ZADD", key("schedule"), 1, "\0\0\0\0\0\0\u0001none"]],
  "ready-without-message": (key) => [["RPUSH", key("ready"), "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\u0001none"]],
  "leases-without-message": (key) => [["ZADD", key("leases"), Date.now() + 60_000, "none"]],
  "dead-without-message": (key) => [["ZADD", key("dead"), 1, "none"]],
  "standing-without-message": (key) => [["HSET", key("standing"), "none", `w${"\0".repeat(33)}`]],
  "lease-without-token": (key) => [["ZADD", key("leases"), Date.now() + 60_000, "later"]],
  "dead-without-reason": (key) => [["ZADD", key("dead"), 1, "later"]],
};

describe("An audit of zset-list reliable", () => {
  it("finds nothing wrong with a message in each place, and one in the hand of a consumer.", async () => {
    const { queue, key } = await full();
    await redis.raw.command("ZADD", key("hands"), Date.now() + 60_000, "other");
    await redis.raw.command("LMOVE", key("ready"), key("hand:other"), "RIGHT", "LEFT");
    const report = await queue.audit();
    expect(report).toMatchObject({ ok: true, problems: [] });
    expect(report.checked).toBeGreaterThanOrEqual(5);
    // What was in the hand was put back.
    expect(await queue.counts()).toMatchObject({ scheduled: 2, due: 1, leased: 1, dead: 1 });
  });

  it("reads messages whose entries among the leases and the dead are gone, until a repair mends them.", async () => {
    const { queue, key } = await full();
    await redis.raw.command("DEL", key("leases"), key("dead"));
    const read = await queue.get(["leased", "dead", "later"]);
    expect(read.map((message) => message?.state)).toEqual(["due", "dead", "scheduled"]);
    expect((await queue.repair()).ok).toBe(false);
    expect(await queue.audit()).toMatchObject({ ok: true });
  });

  it.each(Object.keys(plants))(
    "finds what is planted as %s, and a repair removes it and nothing else.",
    async (kind) => {
      const { queue, key } = await full();
      for (const command of plants[kind]?.(key) ?? []) await redis.raw.command(...command);
      expect((await queue.audit()).problems.map((problem) => problem.kind)).toEqual([kind]);
      expect((await queue.repair()).ok).toBe(false);
      expect(await queue.audit()).toMatchObject({ ok: true });
      expect(await queue.counts()).toMatchObject({ scheduled: 2, due: 1, leased: 1, dead: 1 });
    },
  );

  it.each([
    ["later", "schedule"],
    ["leased", "leases"],
    ["dead", "dead"],
  ])("finds that %s is in no index, and a repair makes it due at once.", async (id, part) => {
    const { queue, key, claim } = await full();
    const members = await redis.raw.command("ZRANGE", key(part), 0, -1);
    for (const member of Array.isArray(members) ? members : []) {
      if (Buffer.isBuffer(member) && member.toString("latin1").endsWith(id)) {
        await redis.raw.command("ZREM", key(part), member);
      }
    }
    expect((await queue.audit()).problems).toMatchObject([{ id, kind: "message-without-place" }]);
    await queue.repair();
    expect(await queue.audit()).toMatchObject({ ok: true });
    expect((await claim("after", 10)).messages.map((message) => message.id).toSorted()).toEqual(
      [id, "listed"].toSorted(),
    );
  });
});
