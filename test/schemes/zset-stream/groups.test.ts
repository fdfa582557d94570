import { beforeEach, describe, expect, it } from "vitest";
import type { EngineQueue, NewMessage } from "../../../src/engine.js";
import { zsetStreamEngine } from "../../../src/engines/zset-stream/engine.js";
import { read } from "../../source-files.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { withRedis } from "../../support/with-redis.js";

const redis = withRedis();
let names = 0;
let name: string;
beforeEach(() => {
  name = `groups-${++names}`;
});

const open = (group?: string) => closedAtEnd(zsetStreamEngine({ url: redis.url, group })).open(name);
const key = (part: string) => `{punctual:${name}}:zset-stream:${part}`;
const message = (id: string, options: Partial<NewMessage> = {}): NewMessage => ({
  id,
  payload: Buffer.from(id),
  due: { delay: 0 },
  onDuplicate: "keep",
  ...options,
});
let tokens = 0;
async function take(queue: EngineQueue, consumer = "one", lease = 60_000) {
  const token = `token-${++tokens}`;
  const claim = await queue.claim({ limit: 100, lease, consumer, token, attempts: 5 });
  const receipts = claim.messages.map(({ id }) => ({ id, token, leaseUntil: claim.leaseUntil }));
  return { ...claim, receipts, ids: claim.messages.map(({ id }) => id) };
}

/** Two groups that have claimed, so that each gets what comes due from now on. */
async function twoGroups() {
  const [mail, stats] = [open("mail"), open("stats")];
  await take(mail);
  await take(stats);
  return { mail, stats };
}
const left = async () => ({
  entries: await redis.raw.command("XLEN", key("stream")),
  messages: await redis.raw.command("HLEN", key("messages")),
});

describe("Two groups", () => {
  it("each get each message, which goes when both are done with it", async () => {
    const { mail, stats } = await twoGroups();
    await mail.schedule(["a", "b"].map((id) => message(id)));
    const first = await take(mail);
    expect(first.ids).toEqual(["a", "b"]);
    expect(await mail.acknowledge(first.receipts)).toEqual(["settled", "settled"]);
    expect(await mail.get(["a"])).toEqual([undefined]);
    expect(await stats.get(["a"])).toMatchObject([{ state: "due", attempt: 0 }]);
    expect(await stats.counts()).toMatchObject({ due: 2, leased: 0 });
    expect(await left()).toEqual({ entries: 2, messages: 2 });
    expect(await mail.schedule([message("a")])).toMatchObject([{ outcome: "duplicate" }]);

    const second = await take(stats);
    expect(second.ids).toEqual(["a", "b"]);
    expect(await stats.acknowledge(second.receipts)).toEqual(["settled", "settled"]);
    expect(await left()).toEqual({ entries: 0, messages: 0 });
    expect(await mail.schedule([message("a")])).toMatchObject([{ outcome: "scheduled" }]);
  });

  it("count attempts, retry and bury by themselves", async () => {
    const { mail, stats } = await twoGroups();
    await mail.schedule([message("a", { attempts: 2 })]);
    for (const attempt of [1, 2]) {
      const { messages, receipts } = await take(mail);
      expect(messages).toMatchObject([{ id: "a", attempt, attempts: 2 }]);
      await mail.retry(receipts.map((receipt) => ({ ...receipt, delay: 0 })));
    }
    expect(await mail.get(["a"])).toMatchObject([{ state: "dead", attempt: 2, buried: { reason: "attempts" } }]);
    expect((await take(mail)).ids).toEqual([]);
    expect(await stats.counts()).toMatchObject({ due: 1, dead: 0 });
    const { messages, receipts } = await take(stats);
    expect(messages).toMatchObject([{ id: "a", attempt: 1 }]);
    await stats.acknowledge(receipts);
    expect(await left()).toEqual({ entries: 1, messages: 1 });

    expect(await mail.revive("all", { delay: 0 })).toBe(1);
    expect((await take(stats)).ids).toEqual([]);
    const revived = await take(mail);
    expect(revived.messages).toMatchObject([{ id: "a", attempt: 1 }]);
    await mail.acknowledge(revived.receipts);
    expect(await left()).toEqual({ entries: 0, messages: 0 });
  });

  it("lose together what is cancelled, unless a consumer of either works on it", async () => {
    const { mail, stats } = await twoGroups();
    await mail.schedule(["a", "b"].map((id) => message(id)));
    const { receipts } = await take(mail);
    expect(await stats.cancel(["a"])).toEqual(["leased"]);
    await mail.retry(receipts.map((receipt) => ({ ...receipt, delay: 60_000 })));
    expect(await stats.cancel(["a"])).toEqual(["cancelled"]);
    expect([await mail.get(["a"]), await stats.get(["a"])]).toEqual([[undefined], [undefined]]);
    expect((await take(stats)).ids).toEqual(["b"]);
    expect(await mail.counts()).toMatchObject({ scheduled: 1, due: 0 });
  });

  it("get a new due time together, each where it waits for the message, and then each gets it once", async () => {
    const { mail, stats } = await twoGroups();
    await mail.schedule([message("a")]);
    const { receipts, now } = await take(mail);
    expect(await stats.reschedule([{ id: "a", due: { delay: 0 } }])).toEqual(["leased"]);
    await mail.retry([{ ...receipts[0]!, delay: 60_000 }]);
    expect(await stats.reschedule([{ id: "a", due: { at: Math.floor(now) + 300 } }])).toEqual(["rescheduled"]);
    for (const queue of [mail, stats]) expect((await take(queue)).ids).toEqual([]);
    for (const queue of [mail, stats]) {
      await expect.poll(async () => (await take(queue)).ids, { timeout: 2_000 }).toEqual(["a"]);
      expect((await take(queue)).ids).toEqual([]);
    }
    expect((await mail.get(["a"]))[0]?.attempt).toBe(2);
    expect((await stats.get(["a"]))[0]?.attempt).toBe(1);
  });

  it("read an entry of a message that was rescheduled before they came to it without delivering it early", async () => {
    const { mail, stats } = await twoGroups();
    await mail.schedule([message("a"), message("b")]);
    const { receipts } = await take(mail);
    await mail.acknowledge(receipts);
    expect(await stats.reschedule([{ id: "a", due: { delay: 60_000 } }])).toEqual(["rescheduled"]);
    expect(await stats.counts()).toMatchObject({ scheduled: 1, due: 1 });
    expect((await take(stats)).ids).toEqual(["b"]);
    expect((await take(stats)).ids).toEqual([]);
    expect(await stats.reschedule([{ id: "a", due: { delay: 0 } }])).toEqual(["rescheduled"]);
    const last = await take(stats);
    expect(last.messages).toMatchObject([{ id: "a", attempt: 1 }]);
    await stats.acknowledge(last.receipts);
    expect(await stats.counts()).toMatchObject({ scheduled: 0, due: 0, leased: 1 });
  });

  it("are both woken by a schedule, a reschedule and the end of a pause", async () => {
    const { mail, stats } = await twoGroups();
    const woken: string[] = [];
    const watches = await Promise.all(
      Object.entries({ mail, stats }).map(async ([group, queue]) => {
        const watch = await queue.watch("one", {
          wake: () => woken.push(group),
          postpone: () => undefined,
          interrupted: () => undefined,
          recovered: () => undefined,
        });
        await take(queue);
        return watch;
      }),
    );
    const heard = async (act: () => Promise<unknown>) => {
      woken.length = 0;
      await act();
      await expect.poll(() => woken.toSorted(), { timeout: 2_000 }).toEqual(["mail", "stats"]);
    };
    await heard(() => mail.schedule([message("a", { due: { delay: 4_000 } })]));
    await heard(() => mail.reschedule([{ id: "a", due: { delay: 2_000 } }]));
    await mail.pause();
    for (const queue of [mail, stats]) await take(queue);
    await heard(() => stats.resume());
    await Promise.all(watches.map((watch) => watch[Symbol.asyncDispose]()));
  });
});

it("A group that somebody destroyed gets what it had not finished, though the other is done with it", async () => {
  const { mail, stats } = await twoGroups();
  await mail.schedule(["held", "unread"].map((id) => message(id)));
  const done = await take(stats);
  const held = await mail.claim({ limit: 1, lease: 60_000, consumer: "one", token: "held", attempts: 5 });
  await redis.raw.command("XGROUP", "DESTROY", key("stream"), "mail");
  expect(await mail.claim({ limit: 0, lease: 60_000, consumer: "two", token: "none", attempts: 5 })).toBeTruthy();
  expect(await stats.acknowledge(done.receipts)).toEqual(["settled", "settled"]);
  expect(await left()).toEqual({ entries: 2, messages: 2 });
  expect((await take(mail)).ids).toEqual(["unread"]);
  expect(await mail.acknowledge([{ id: "held", token: "held", leaseUntil: held.leaseUntil }])).toEqual(["settled"]);
  expect(await left()).toEqual({ entries: 1, messages: 1 });
});

describe("A group that is made later", () => {
  it("gets what comes due from its first claim on, and nothing that was due before", async () => {
    const mail = open("mail");
    await take(mail);
    await mail.schedule([message("before"), message("after", { due: { delay: 1_500 } })]);
    const { receipts } = await take(mail);
    const stats = open("stats");
    expect((await take(stats)).ids).toEqual([]);
    await expect.poll(async () => (await take(stats)).ids, { timeout: 5_000 }).toEqual(["after"]);
    await mail.acknowledge(receipts);
    expect(await left()).toEqual({ entries: 1, messages: 1 });
  });

  it("is made once by consumers that begin at the same moment", async () => {
    const queues = ["mail", "mail", "mail"].map(open);
    await queues[0]!.schedule(["a", "b", "c"].map((id) => message(id)));
    const claims = await Promise.all(queues.map((queue, index) => take(queue, `consumer-${index}`)));
    expect(claims.flatMap(({ ids }) => ids)).toEqual(["a", "b", "c"]);
    expect(await redis.raw.text("XINFO", "GROUPS", key("stream"))).toHaveLength(1);
  });
});

it("A group that was ended as the page says keeps nothing from being deleted", async () => {
  const { mail, stats } = await twoGroups();
  await mail.schedule(["held", "waits", "unread"].map((id) => message(id)));
  const { receipts } = await take(mail);
  await mail.acknowledge(receipts);
  const page = read("docs/reference/engines/zset-stream.md");
  const [destroy, forget, pattern] = [/XGROUP DESTROY '(.*)' (\w+)/, /SREM '(.*)' (\w+)/, /--pattern '(.*)'/].map(
    (command) =>
      command
        .exec(page)
        ?.slice(1)
        .map((word) => word.replace("shipped", name)) ?? [],
  );
  const [{ receipts: held }] = [await take(stats, "one", 60_000)];
  await stats.retry([{ ...held[1]!, delay: 60_000 }]);
  await redis.raw.command("XGROUP", "DESTROY", ...destroy!);
  await redis.raw.command("SREM", ...forget!);
  await redis.raw.command("DEL", ...((await redis.raw.text("KEYS", ...pattern!)) as string[]));
  expect((await mail.repair()).problems.map(({ kind, id }) => `${kind}: ${id}`).toSorted()).toEqual([
    "message-done: held",
    "message-done: unread",
    "message-done: waits",
  ]);
  expect(await left()).toEqual({ entries: 0, messages: 0 });
});

it("A name of a group that is none is refused with what is accepted", () => {
  expect(() => zsetStreamEngine({ url: redis.url, group: "a b" })).toThrow(/group is "a b"; accepted is/);
  expect(() => zsetStreamEngine({ url: redis.url, group: "" })).toThrow(/group is ""/);
});
