import { beforeEach, describe, expect, it } from "vitest";
import type { ClaimRequest, Dropped, Engine, EngineQueue, NewMessage, Receipt } from "../../engine.js";
import { type ManualClock, manualClock } from "../../testing/manual-clock.js";
import { type MemoryEngineOptions, memoryEngine } from "./engine.js";

const start = 1_000_000;

function message(id: string, delay = 0, payload: Uint8Array = Buffer.from(id)): NewMessage {
  return { id, payload, due: { delay }, onDuplicate: "keep" };
}

let tokens = 0;

describe("the memory engine", () => {
  let clock: ManualClock;
  let engine: Engine;
  let queue: EngineQueue;

  beforeEach(() => {
    clock = manualClock(start);
    engine = memoryEngine({ clock });
    queue = engine.open("orders");
  });

  function request(more: Partial<ClaimRequest> = {}): ClaimRequest {
    return { limit: 10, lease: 30_000, consumer: "one", token: `token ${tokens++}`, attempts: 5, ...more };
  }

  async function claimedIds(more: Partial<ClaimRequest> = {}): Promise<string[]> {
    return (await queue.claim(request(more))).messages.map(({ id }) => id);
  }

  it("gives the same messages to all who open a queue by its name, and others to another name", async () => {
    await engine.open("orders").schedule([message("a")]);
    expect((await engine.open("orders").counts()).due).toBe(1);
    expect((await engine.open("other").counts()).due).toBe(0);
  });

  it("answers in the order of the items, also when an id comes twice in one call", async () => {
    const results = await queue.schedule([message("a", 10), message("b", 20), message("a", 30)]);
    expect(results).toEqual([
      { outcome: "scheduled", dueAt: start + 10 },
      { outcome: "scheduled", dueAt: start + 20 },
      { outcome: "duplicate", dueAt: start + 10 },
    ]);
    expect(await queue.cancel(["b", "x", "b"])).toEqual(["cancelled", "absent", "absent"]);
    expect((await queue.get(["x", "a"])).map((found) => found?.id)).toEqual([undefined, "a"]);
  });

  it("answers a claim that is repeated with its token with the same leases, as far as they are still held", async () => {
    await queue.schedule([message("a"), message("b"), message("c")]);
    const first = request({ limit: 2, attempts: 7 });
    const given = await queue.claim(first);
    await clock.advance(100);
    const again = await queue.claim(first);
    expect(again.messages).toEqual(given.messages);
    expect(again.messages[0]?.attempts).toBe(7);
    expect(again.leaseUntil).toBe(given.leaseUntil);
    await queue.acknowledge([{ id: "a", token: first.token, leaseUntil: given.leaseUntil }]);
    expect((await queue.claim(first)).messages.map(({ id }) => id)).toEqual(["b"]);
    expect(await claimedIds()).toEqual(["c"]);
  });

  it("forgets the claims of a consumer whose watch has ended", async () => {
    const watch = await queue.watch("one", { wake() {}, postpone() {}, interrupted() {}, recovered() {} });
    await queue.schedule([message("a")]);
    const claim = request();
    expect((await queue.claim(claim)).messages).toHaveLength(1);
    await watch[Symbol.asyncDispose]();
    expect((await queue.claim(claim)).messages).toEqual([]);
  });

  it("gives 250 messages at most in a claim, and sends the consumer for the rest at once", async () => {
    await queue.schedule(Array.from({ length: 251 }, (_, n) => message(`${n}`)));
    const first = await queue.claim(request({ limit: 1_000 }));
    expect(first.messages).toHaveLength(250);
    expect(first.nextAt).toBe(first.now);
    const second = await queue.claim(request({ limit: 1_000 }));
    expect(second.messages.map(({ id }) => id)).toEqual(["250"]);
    expect(second.nextAt).toBe(second.now + 5_000);
  });

  it("gives about 1 MiB of payload in a claim, but one message at least", async () => {
    const half = new Uint8Array(512 * 1024);
    await queue.schedule([
      message("large", 0, new Uint8Array(3 * 1024 * 1024)),
      message("half", 0, half),
      message("other half", 0, half),
      message("small", 0, new Uint8Array(1)),
    ]);
    expect(await claimedIds()).toEqual(["large"]);
    expect(await claimedIds()).toEqual(["half", "other half"]);
    expect(await claimedIds()).toEqual(["small"]);
  });

  it("reclaims 125 leases at most in a claim, and sends the consumer for the rest at once", async () => {
    await queue.schedule(Array.from({ length: 126 }, (_, n) => message(`${n}`)));
    const lease = 1_000;
    const early = await queue.claim(request({ limit: 125, lease, token: "early" }));
    expect(early.messages).toHaveLength(125);
    await clock.advance(1);
    const late = await queue.claim(request({ limit: 125, lease, token: "late" }));
    await clock.advance(lease);
    const first = await queue.claim(request({ limit: 0 }));
    expect(first.nextAt).toBe(first.now);
    // What has not been reclaimed is still held.
    const { leaseUntil } = late;
    expect(await queue.acknowledge([{ id: "0", token: "early", leaseUntil }])).toEqual(["lease-lost"]);
    expect(await queue.acknowledge([{ id: "125", token: "late", leaseUntil }])).toEqual(["settled"]);
  });

  it("does not send a consumer in circles while the queue is paused, yet reclaims", async () => {
    await queue.schedule([message("a"), message("b")]);
    await claimedIds({ limit: 1, lease: 2_000, consumer: "two" });
    await queue.pause();
    const paused = await queue.claim(request());
    expect(paused.messages).toEqual([]);
    expect(paused.nextAt).toBe(start + 2_000);
    await clock.advanceTo(start + 2_000);
    expect((await queue.claim(request())).nextAt).toBe(start + 7_000);
    expect(await queue.counts()).toEqual({ scheduled: 0, due: 2, leased: 0, dead: 0, paused: true });
    await queue.resume();
    expect(await claimedIds()).toEqual(["b", "a"]);
  });

  it("says which messages a claim buried", async () => {
    await queue.schedule([{ ...message("a"), expiresIn: 5 }]);
    await clock.advance(6);
    expect(await queue.claim(request())).toMatchObject({ messages: [], buried: [{ id: "a", reason: "expired" }] });
  });

  it("refuses every call with `closed` once it was closed, and can be closed twice", async () => {
    const watch = await queue.watch("one", { wake() {}, postpone() {}, interrupted() {}, recovered() {} });
    await engine.close();
    await engine[Symbol.asyncDispose]();
    await expect(queue.schedule([message("a")])).rejects.toMatchObject({ code: "closed" });
    await expect(queue.claim(request())).rejects.toMatchObject({ code: "closed" });
    await expect(engine.open("new").counts()).rejects.toMatchObject({ code: "closed" });
    await expect(watch[Symbol.asyncDispose]()).resolves.toBeUndefined();
  });

  it("does not schedule for a caller that has given up already", async () => {
    const signal = AbortSignal.abort();
    await expect(queue.schedule([message("a")], { signal })).rejects.toMatchObject({ code: "not-sent" });
    expect((await queue.counts()).due).toBe(0);
  });

  it("remembers ids for all who open a queue once one of them asked for it", async () => {
    await engine.open("orders", { rememberFor: 500 }).schedule([message("a"), message("b")]);
    await queue.cancel(["a"]);
    await clock.advance(499);
    expect(await queue.schedule([message("a")])).toEqual([{ outcome: "duplicate", dueAt: start }]);
    await clock.advance(1);
    expect(await queue.schedule([message("a")])).toEqual([{ outcome: "scheduled", dueAt: start + 500 }]);
  });

  it("tells those whose call had dead letters fall out, and only them", async () => {
    engine = memoryEngine({ clock, deadLetters: { max: 1 } });
    const told: Record<"one" | "two", Dropped[]> = { one: [], two: [] };
    const one = engine.open("orders", { onDropped: (dropped) => told.one.push(dropped) });
    const two = engine.open("orders", { onDropped: (dropped) => told.two.push(dropped) });
    await engine.open("orders").schedule(["a", "b", "c", "d"].map((id) => message(id)));
    const { leaseUntil } = await one.claim(request({ token: "t" }));
    const burial = (id: string) => ({ id, token: "t", leaseUntil, reason: "poison" });
    await one.bury(["a", "b"].map(burial));
    await two.bury([burial("c")]);
    await engine.open("orders").bury([burial("d")]);
    expect(told).toEqual({ one: [{ ids: ["a"], total: 1 }], two: [{ ids: ["b"], total: 2 }] });
  });

  it("refuses bounds of dead letters that are none", () => {
    expect(() => memoryEngine({ deadLetters: { max: -1 } })).toThrow(
      expect.objectContaining({ code: "invalid-argument" }),
    );
  });

  it.each([
    [null, "options is null; accepted is an object."],
    ["memory", 'options is "memory"; accepted is an object.'],
    [{ clok: 5 }, 'options has no option "clok". Did you mean "clock"? There are: clock, poll, deadLetters.'],
    [{ clock: 5 }, "clock is 5; accepted is a clock, such as manualClock() of punctual/testing."],
    [{ clock: null }, "clock is null; accepted is a clock, such as manualClock() of punctual/testing."],
    [
      { clock: { now: () => 0 } },
      "clock is an object; accepted is a clock, such as manualClock() of punctual/testing.",
    ],
    [{ poll: "often" }, 'poll is "often"; '],
    [{ poll: 0 }, "poll is 0 ms; accepted is 1 ms or longer."],
  ])("refuses the options %j with a sentence", (options, sentence) => {
    expect(() => memoryEngine(options as MemoryEngineOptions)).toThrow(
      expect.objectContaining({ code: "invalid-argument", message: expect.stringContaining(sentence) }),
    );
  });

  it("takes a hundred thousand messages in its stride", async () => {
    const count = 100_000;
    // Due times in no order, so that the heap has work to do.
    const messages = Array.from({ length: count }, (_, n) => message(`${n}`, (n * 7_919) % 10_007));
    await queue.schedule(messages);
    await clock.advance(10_007);
    let done = 0;
    for (let claims = 0; claims < count / 250; claims++) {
      const claim = request({ limit: 250 });
      const { messages: leased, leaseUntil } = await queue.claim(claim);
      done += leased.length;
      await queue.acknowledge(leased.map(({ id }) => ({ id, token: claim.token, leaseUntil })));
    }
    expect(done).toBe(count);
    expect(await queue.counts()).toEqual({ scheduled: 0, due: 0, leased: 0, dead: 0, paused: false });
  });
});

describe("consumers that wait on the memory engine", () => {
  const poll = 5_000;
  let clock: ManualClock;
  let queue: EngineQueue;
  /** One entry for each claim: who, and how many messages it got. */
  let claims: { consumer: string; got: number }[];
  let delivered: { id: string; at: number }[];

  beforeEach(() => {
    clock = manualClock(start);
    queue = memoryEngine({ clock, poll }).open("orders");
    claims = [];
    delivered = [];
  });

  /**
   * The least that a consumer must do: claims when it was told to, and keeps the leases. With `limit` messages it is full
   * and claims no more.
   */
  async function consume(consumer: string, limit = Infinity): Promise<AsyncDisposable> {
    let held = 0;
    let ended = false;
    let cancelTimer = (): void => undefined;
    let plannedFor = Infinity;

    function plan(at: number): void {
      cancelTimer();
      plannedFor = at;
      cancelTimer = clock.runAt(at, () => void claim());
    }

    async function claim(): Promise<void> {
      plannedFor = Infinity;
      const room = Math.min(limit - held, 100);
      if (room === 0 || ended) return;
      const token = `token ${tokens++}`;
      const { messages, now, nextAt } = await queue.claim({
        limit: room,
        lease: 3_600_000,
        consumer,
        token,
        attempts: 5,
      });
      claims.push({ consumer, got: messages.length });
      held += messages.length;
      for (const { id } of messages) delivered.push({ id, at: now });
      if (held < limit && nextAt < plannedFor) plan(nextAt);
    }

    const watch = await queue.watch(consumer, {
      wake: (at) => at < plannedFor && plan(at),
      postpone() {},
      interrupted() {},
      recovered() {},
    });
    await claim();
    return {
      async [Symbol.asyncDispose]() {
        ended = true;
        cancelTimer();
        await watch[Symbol.asyncDispose]();
      },
    };
  }

  async function consumeByMany(consumers: number, limit?: number): Promise<AsyncDisposable[]> {
    const all: AsyncDisposable[] = [];
    for (let n = 0; n < consumers; n++) all.push(await consume(`consumer ${n}`, limit));
    claims = [];
    return all;
  }

  it.each([1, 10, 50])(
    "meet a message that comes before the planned one on time, %i of them, with one claim",
    async (n) => {
      await queue.schedule([message("far", 4_900)]);
      await consumeByMany(n);
      await queue.schedule([message("near", 1_000)]);
      await clock.advance(2_000);
      expect(delivered).toEqual([{ id: "near", at: start + 1_000 }]);
      expect(claims).toHaveLength(1);
      await queue.schedule([message("moved", 2_500)]);
      await queue.reschedule([{ id: "moved", due: { delay: 500 } }]);
      await clock.advance(600);
      expect(delivered.at(-1)).toEqual({ id: "moved", at: start + 2_500 });
      await queue.pause();
      await queue.schedule([message("paused", 0)]);
      await clock.advance(100);
      expect(delivered).toHaveLength(2);
      await queue.resume();
      await clock.advance(0);
      expect(delivered.at(-1)).toEqual({ id: "paused", at: start + 2_700 });
    },
  );

  it("cost no more claims when they are 50 than when it is one, net of polls", async () => {
    await consumeByMany(50);
    for (let sent = 0; sent < 100; sent++) await queue.schedule([message(`${sent}`, 7 * sent)]);
    await clock.advance(4_000);
    expect(delivered).toHaveLength(100);
    expect(claims).toHaveLength(100);
  });

  it("share a burst: the one that is filled wakes the next", async () => {
    await consumeByMany(50, 3);
    await queue.schedule(Array.from({ length: 10 }, (_, n) => message(`${n}`, 100)));
    await clock.advance(100);
    expect(claims.map(({ got }) => got)).toEqual([3, 3, 3, 1]);
    expect(new Set(claims.map(({ consumer }) => consumer)).size).toBe(4);
    expect(delivered.every(({ at }) => at === start + 100)).toBe(true);
  });

  it("take the duty over when the watch of the one on duty ends", async () => {
    const consumers = await consumeByMany(10);
    await queue.schedule([message("a", 1_000)]);
    await consumers[0]?.[Symbol.asyncDispose]();
    await consumers[1]?.[Symbol.asyncDispose]();
    await clock.advance(1_000);
    expect(delivered).toEqual([{ id: "a", at: start + 1_000 }]);
    expect(claims).toEqual([{ consumer: "consumer 2", got: 1 }]);
  });

  it("meet the end of a lease that another consumer leaves behind", async () => {
    await consumeByMany(10);
    await queue.schedule([message("a", 0)]);
    await queue.claim({ limit: 1, lease: 1_000, consumer: "killed", token: "killed", attempts: 5 });
    await clock.advance(2_000);
    expect(delivered).toEqual([{ id: "a", at: start + 1_000 }]);
  });

  it.each<[what: string, change: (lease: Receipt) => Promise<unknown>]>([
    ["retried", (lease) => queue.retry([{ ...lease, delay: 700 }])],
    ["released with a delay", (lease) => queue.release([{ ...lease, delay: 700 }])],
    ["left by a lease that was made shorter", (lease) => queue.extend([lease], 700)],
  ])("meet a message on time that is %s by another consumer", async (_, change) => {
    await queue.schedule([message("a", 0)]);
    await queue.claim({ limit: 1, lease: 60_000, consumer: "other", token: "other", attempts: 5 });
    await consumeByMany(10);
    await change({ id: "a", token: "other", leaseUntil: start + 60_000 });
    await clock.advance(1_000);
    expect(delivered).toEqual([{ id: "a", at: start + 700 }]);
    expect(claims).toHaveLength(1);
  });

  it("meet on time what a claim that does not return leaves behind, and the end of its leases", async () => {
    await consumeByMany(10);
    await queue.pause();
    await queue.schedule([message("a", 0), message("b", 0)]);
    await queue.resume();
    const once = { limit: 1, lease: 1_000, consumer: "once", token: "once", attempts: 5, returns: false };
    expect((await queue.claim(once)).messages.map(({ id }) => id)).toEqual(["a"]);
    await clock.advance(1_500);
    expect(delivered).toEqual([
      { id: "b", at: start },
      { id: "a", at: start + 1_000 },
    ]);
  });

  it("claim once in a poll while nothing comes due, whatever is scheduled", async () => {
    await queue.schedule([message("far", 86_400_000)]);
    await consumeByMany(10);
    await clock.advance("10m");
    expect(claims).toHaveLength((10 * 600_000) / poll);
  });
});
