import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import { losingEvaluator, type Loss } from "../../../../test/support/losing-evaluator.js";
import type { NewMessage, Receipt } from "../../../engine.js";
import type { Evaluator } from "../../../scripting/script.js";
import { acknowledge } from "./acknowledge.js";
import { bury } from "./bury.js";
import { cancel } from "./cancel.js";
import { claim } from "./claim.js";
import { counts } from "./counts.js";
import { extend } from "./extend.js";
import { get } from "./get.js";
import { release } from "./release.js";
import { reschedule } from "./reschedule.js";
import { retry } from "./retry.js";
import { schedule } from "./schedule.js";

// The connection is cut in the first attempt of each call: after the server ran it, or before. The call is made again.

let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

const losing = (loss?: Loss) => losingEvaluator(bench.evaluator, loss);
const message = (id: string, more: Partial<NewMessage> = {}): NewMessage => ({
  id,
  payload: Buffer.from(id),
  due: { at: 9e12 },
  onDuplicate: "keep",
  ...more,
});
const idsOf = async (queue: RawQueue) => (await queue.schedule()).map(([id]) => id);
const taking = (queue: RawQueue, token: string) =>
  claim(bench.evaluator, queue.keys, { consumer: token, token, limit: 10, lease: 30_000, attempts: 5, order: 1 });

describe.each([{ ran: true }, { ran: false }])("schedule, cut with the first attempt run: $ran,", ({ ran }) => {
  it("leaves one message and calls it scheduled, by delay and by time", async () => {
    const queue = bench.queue();
    const messages = [message("a"), message("b", { due: { delay: 60_000 } })];
    const results = await schedule(losing({ ran }), queue.keys, messages);
    const stored = Object.fromEntries(await queue.schedule());
    expect(results).toEqual([
      { outcome: "scheduled", dueAt: stored["a"] },
      { outcome: "scheduled", dueAt: stored["b"] },
    ]);
    expect(Object.keys(stored)).toEqual(["b", "a"]);
  });

  it("calls a message that differs a duplicate", async () => {
    const queue = bench.queue();
    await queue.scheduled("a", 8e12, { payload: Buffer.from("other") });
    const results = await schedule(losing({ ran }), queue.keys, [message("a")]);
    expect(results).toEqual([{ outcome: "duplicate", dueAt: 8e12 }]);
  });

  it("replaces once", async () => {
    const queue = bench.queue();
    await queue.scheduled("a", 8e12, { payload: Buffer.from("other") });
    const results = await schedule(losing({ ran }), queue.keys, [message("a", { onDuplicate: "replace" })]);
    expect(results).toEqual([{ outcome: ran ? "scheduled" : "replaced", dueAt: 9e12 }]);
    expect((await queue.texts("state"))["seq"]).toBe("1");
    expect(await queue.schedule()).toEqual([["a", 9e12]]);
    expect((await queue.hash("messages"))["a"]?.subarray(8).toString()).toBe("a");
  });
});

describe("schedule of a long list", () => {
  it("gives each of its calls what is left of the time for all, and without one the default", async () => {
    const { keys } = bench.queue();
    let elapsed = 0;
    const timeouts: unknown[] = [];
    const slow: Evaluator = {
      clock: { ...bench.evaluator.clock, elapsed: () => elapsed },
      async evaluate(script, names, args, options) {
        timeouts.push(options?.timeout);
        elapsed += 400;
        return await bench.evaluator.evaluate(script, names, args);
      },
    };
    const messages = Array.from({ length: 1_600 }, (_, index) => message(`m${index}`));
    await schedule(slow, keys, messages, { timeout: 1_000 });
    await schedule(slow, keys, messages.slice(0, 600));
    expect(timeouts).toEqual([1_000, 600, 200, 0, undefined, undefined]);
  });
});

describe("schedule that replaces, its first attempt lost,", () => {
  const replacing = (id: string, due: NewMessage["due"]) => message(id, { onDuplicate: "replace", due });

  it.each([{ at: 9e12 }, { at: 0 }, { delay: 60_000 }, { delay: -5 }])(
    "stores a new message once (%j)",
    async (due) => {
      const queue = bench.queue();
      const [result] = await schedule(losing(), queue.keys, [replacing("a", due)]);
      expect(result).toEqual({ outcome: "scheduled", dueAt: (await queue.schedule())[0]?.[1] });
      expect((await queue.texts("state"))["seq"]).toBe("1");
    },
  );

  it("stores a new message once, though the clock was an hour ahead until the server told its time", async () => {
    const queue = bench.queue();
    const lost = losing();
    let ahead = 3_600_000;
    const cold: Evaluator = {
      clock: { ...lost.clock, now: () => lost.clock.now() + ahead },
      evaluate(...call) {
        ahead = 0;
        return lost.evaluate(...call);
      },
    };
    const [result] = await schedule(cold, queue.keys, [replacing("a", { delay: 60_000 })]);
    expect(result?.outcome).toBe("scheduled");
    expect((await queue.texts("state"))["seq"]).toBe("1");
  });

  it("knows its message under a lease, also one that has ended", async () => {
    const queue = bench.queue();
    const due = { at: 0 };
    const taken = losing({ meanwhile: () => taking(queue, "t") });
    const [result] = await schedule(taken, queue.keys, [replacing("a", due)]);
    expect(result?.outcome).toBe("scheduled");
    const ended = losing({
      meanwhile: async () => {
        await taking(queue, "t2");
        await bench.raw.command("ZADD", queue.keys.leases, (await bench.now()) - 1, "b");
      },
    });
    expect((await schedule(ended, queue.keys, [replacing("b", due)]))[0]?.outcome).toBe("scheduled");
    expect(Object.keys(await queue.fence())).toEqual(["a", "b"]);
  });

  it("still moves a message that has the very same body, and leaves one that is leased", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.scheduled("a", 8e12);
    await queue.scheduled("b", now + 5_000);
    await queue.leased("c", { until: now + 60_000, due: now - 60_000, token: "t", attempts: 5 });
    const messages = [replacing("a", { at: 9e12 }), replacing("b", { delay: 60_000 }), replacing("c", { delay: 0 })];
    const results = await schedule(losing({ ran: false }), queue.keys, messages);
    expect(results.map(({ outcome }) => outcome)).toEqual(["replaced", "replaced", "leased"]);
  });
});

describe("schedule, claimed before the second attempt,", () => {
  it("says scheduled and changes nothing", async () => {
    const queue = bench.queue();
    const results = await schedule(losing({ meanwhile: () => taking(queue, "t") }), queue.keys, [
      message("a", { due: { at: 0 } }),
    ]);
    expect(results[0]?.outcome).toBe("scheduled");
    expect(await idsOf(queue)).toEqual([]);
    expect(Object.keys(await queue.fence())).toEqual(["a"]);
  });
});

type Settle = (evaluator: Evaluator, queue: RawQueue, receipt: Receipt) => Promise<string[]>;
/** What `get` finds after each: how many attempts were used, or no message. */
const settles: [string, Settle, unknown][] = [
  ["acknowledge", (evaluator, { keys }, receipt) => acknowledge(evaluator, keys, [receipt]), undefined],
  [
    "retry",
    (evaluator, { keys }, receipt) => retry(evaluator, keys, [{ ...receipt, delay: 60_000 }]),
    expect.objectContaining({ attempt: 1 }),
  ],
  [
    "release",
    (evaluator, { keys }, receipt) => release(evaluator, keys, [receipt]),
    expect.objectContaining({ attempt: 0 }),
  ],
  [
    "bury",
    (evaluator, { keys }, receipt) => bury(evaluator, keys, [{ ...receipt, reason: "r" }]),
    expect.objectContaining({ attempt: 1 }),
  ],
];

async function leased(until = 60_000): Promise<{ queue: RawQueue; receipt: Receipt }> {
  const queue = bench.queue();
  const now = await bench.now();
  await queue.leased("a", { until: now + until, due: now - 100, token: "t", attempts: 5 });
  return { queue, receipt: { id: "a", token: "t", leaseUntil: now + until } };
}

describe.each(settles)("%s", (_, settle, after) => {
  it.each([{ ran: true }, { ran: false }])("settles once, cut with the first attempt run: $ran", async ({ ran }) => {
    const { queue, receipt } = await leased();
    expect(await settle(losing({ ran }), queue, receipt)).toEqual(["settled"]);
    expect(await queue.fence()).toEqual({});
    expect((await get(bench.evaluator, queue.keys, ["a"]))[0]).toEqual(after);
  });

  it("does not know once the lease would have ended and it is gone", async () => {
    const { queue, receipt } = await leased(-1);
    expect(await settle(losing(), queue, receipt)).toEqual(["outcome-unknown"]);
  });

  it("does not know either when another has reclaimed it, and leaves that one alone", async () => {
    const { queue, receipt } = await leased(-1);
    const meanwhile = () => taking(queue, "t2");
    expect(await settle(losing({ ran: false, meanwhile }), queue, receipt)).toEqual(["outcome-unknown"]);
    expect((await queue.fence())["a"]?.token).toBe("t2");
  });

  it("never takes a lost lease for settled when no reply was lost", async () => {
    const { queue, receipt } = await leased();
    expect(await settle(bench.evaluator, queue, { ...receipt, token: "t0" })).toEqual(["lease-lost"]);
  });
});

describe("release, and claimed by another before the second attempt,", () => {
  it("settled it, since the lease would have lasted, and leaves the other alone", async () => {
    const { queue, receipt } = await leased();
    const meanwhile = () => taking(queue, "t2");
    expect(await release(losing({ meanwhile }), queue.keys, [receipt])).toEqual(["settled"]);
    expect((await queue.fence())["a"]?.token).toBe("t2");
  });
});

describe("extend", () => {
  it("moves the deadline, and says lease-lost of what is not held at the end", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    const lease = { due: now - 100, token: "t", attempts: 5 };
    await queue.leased("a", { ...lease, until: now + 60_000 });
    await queue.leased("gone", { ...lease, until: now + 60_000 });
    const receipts = ["a", "gone"].map((id) => ({ id, token: "t", leaseUntil: now + 60_000 }));
    const meanwhile = () => acknowledge(bench.evaluator, queue.keys, receipts.slice(1));
    const [a, gone] = await extend(losing({ meanwhile }), queue.keys, receipts, 30_000);
    expect(a).toEqual({ outcome: "extended", leaseUntil: (await queue.scores("leases"))["a"] });
    expect(gone).toEqual({ outcome: "lease-lost" });
  });
});

describe("cancel", () => {
  it("is unknown when nothing is there the second time, and true otherwise", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    for (const id of ["a", "b"]) await queue.scheduled(id, 9e12);
    await queue.leased("leased", { until: now + 60_000, due: now, token: "t", attempts: 5 });
    expect(await cancel(losing(), queue.keys, ["a", "absent", "leased"])).toEqual([
      "outcome-unknown",
      "outcome-unknown",
      "leased",
    ]);
    expect(await cancel(losing({ ran: false }), queue.keys, ["b", "absent"])).toEqual(["cancelled", "outcome-unknown"]);
    expect(await idsOf(queue)).toEqual([]);
  });
});

describe("reschedule", () => {
  it("is true of what still waits, and unknown otherwise", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    for (const id of ["a", "b"]) await queue.scheduled(id, 9e12);
    await queue.leased("leased", { until: now + 60_000, due: now, token: "t", attempts: 5 });
    const changes = ["a", "b", "leased", "absent"].map((id) => ({ id, due: { at: 8e12 } }));
    const meanwhile = () => cancel(bench.evaluator, queue.keys, ["b"]);
    expect(await reschedule(losing({ meanwhile }), queue.keys, changes)).toEqual([
      "rescheduled",
      "outcome-unknown",
      "outcome-unknown",
      "outcome-unknown",
    ]);
    expect(await queue.schedule()).toEqual([["a", 8e12]]);
  });
});

describe("get and counts", () => {
  it("tell what is there at the end", async () => {
    const queue = bench.queue();
    await queue.scheduled("a", 9e12);
    await queue.scheduled("b", 9e12);
    const meanwhile = () => cancel(bench.evaluator, queue.keys, ["a"]);
    expect((await get(losing({ meanwhile }), queue.keys, ["a", "b"])).map((found) => found?.id)).toEqual([
      undefined,
      "b",
    ]);
    expect(await counts(losing(), queue.keys)).toMatchObject({ scheduled: 1 });
  });
});
