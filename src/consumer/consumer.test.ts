import { describe, expect, it } from "vitest";
import { memoryEngine } from "../engines/memory/engine.js";
import type { EngineQueue } from "../engine.js";
import { PunctualError } from "../errors.js";
import { Queue } from "../queue.js";
import { interposed } from "../testing/conformance/interposed-engine.js";
import { manualClock } from "../testing/manual-clock.js";
import type { ConsumeOptions } from "./consume-options.js";
import type { Consumer } from "./consumer.js";
import type { Handler } from "./delivery.js";
import { Gate } from "./gate.js";

const down = new PunctualError("not-sent", "The store is down.");

/** A queue in memory on a manual clock, whose calls can be made to fail or to wait. */
function stage() {
  const clock = manualClock();
  const faults = new Map<keyof EngineQueue, () => Promise<void>>();
  const delays = new Map<keyof EngineQueue, () => Promise<void>>();
  const calls: string[] = [];
  const memory = memoryEngine({ clock });
  const engine = interposed(memory, {
    async around(operation, call) {
      calls.push(operation);
      await faults.get(operation)?.();
      const answer = await call();
      await delays.get(operation)?.();
      return answer;
    },
  });
  const queue = new Queue<string>("q", { engine });
  const told: string[] = [];
  const errors: unknown[] = [];
  const consume = (handler: Handler<string>, options: ConsumeOptions = {}): Consumer<string> =>
    queue
      .consume(handler, options)
      .on("acknowledged", ({ id }) => told.push(`acknowledged ${id}`))
      .on("retried", ({ id }, { delay }) => told.push(`retried ${id} in ${delay}`))
      .on("buried", ({ id }, { reason }) => told.push(`buried ${id}: ${reason}`))
      .on("leaseLost", ({ id }, { code }) => told.push(`leaseLost ${id}: ${code}`))
      .on("recovered", () => told.push("recovered"))
      .on("error", (error) => errors.push(error));
  const put = (...ids: string[]) => queue.scheduleMany(ids.map((id) => ({ payload: id, id, delay: 0 })));
  return { clock, memory, queue, consume, put, told, errors, calls, faults, delays };
}

const noJitter = { backoff: (attempt: number) => attempt * 1_000 };

describe("a consumer", () => {
  it("delivers a message at its due time and acknowledges it", async () => {
    const { clock, queue, consume, told } = stage();
    const seen: unknown[] = [];
    const consumer = consume(({ payload, attempt, attempts, lateness }) =>
      seen.push([payload, attempt, attempts, lateness]),
    );
    await queue.schedule("pay", { delay: "30m", id: "order:A1" });
    await clock.advance("29m");
    expect(seen).toEqual([]);
    await clock.advance("1m");
    expect(seen).toEqual([["pay", 1, 5, 0]]);
    expect(told).toEqual(["acknowledged order:A1"]);
    expect(await queue.get("order:A1")).toBeUndefined();
    await consumer.close();
  });

  it("runs so many handlers at once as it may, and a next one when one ends", async () => {
    const { clock, consume, put } = stage();
    const gates: Gate[] = [];
    const consumer = consume(
      () => {
        const gate = new Gate();
        gates.push(gate);
        return gate.opened;
      },
      { concurrency: 3 },
    );
    await put("a", "b", "c", "d", "e");
    await clock.advance(0);
    expect([gates.length, consumer.health().active]).toEqual([3, 3]);
    gates[1]?.open();
    await clock.advance(0);
    expect([gates.length, consumer.health().active]).toEqual([4, 3]);
    for (const gate of gates) gate.open();
    await clock.advance(0);
    for (const gate of gates) gate.open();
    await consumer.close();
    expect(consumer.health()).toMatchObject({ state: "closed", active: 0 });
  });

  it("holds at most twice as many messages as it may handle at once while settlements are slow", async () => {
    const { clock, queue, consume, put, faults } = stage();
    const gate = new Gate();
    faults.set("acknowledge", () => gate.opened);
    const consumer = consume(() => {}, { concurrency: 2 });
    await put("a", "b", "c", "d", "e", "f");
    await clock.advance("1s");
    expect(await queue.counts()).toMatchObject({ due: 2, leased: 4 });
    faults.clear();
    gate.open();
    await clock.advance("1s");
    expect(await queue.counts()).toMatchObject({ due: 0, leased: 0 });
    await consumer.close();
  });

  it("starts nothing whose lease had ended when the claim was answered", async () => {
    const { clock, consume, put, told, delays } = stage();
    const gate = new Gate();
    delays.set("claim", () => gate.opened);
    const attempts: number[] = [];
    await put("a");
    const consumer = consume(({ attempt }) => attempts.push(attempt), { lease: "1s" });
    await clock.advance("1s");
    delays.clear();
    gate.open();
    await clock.advance("10s");
    expect([attempts, told]).toEqual([[2], ["acknowledged a"]]);
    await consumer.close();
  });

  it("retries by the policy and buries after the last attempt, with the error", async () => {
    const { clock, queue, consume, put, told } = stage();
    const consumer = consume(() => Promise.reject(new Error("no luck")), { retry: { attempts: 3, ...noJitter } });
    await put("a");
    await clock.advance("10s");
    expect(told).toEqual(["retried a in 1000", "retried a in 2000", "buried a: attempts"]);
    expect(await queue.get("a")).toMatchObject({
      state: "dead",
      attempt: 3,
      lastError: { name: "Error", message: "no luck" },
      buried: { reason: "attempts" },
    });
    await consumer.close();
  });

  it.each([
    ["throws", () => Reflect.apply(Math.max, undefined, [Symbol("s")])],
    ["says nonsense", () => "soon"],
    ["says a negative time", () => -1],
  ])("falls back to the default when the backoff %s, and tells", async (_, backoff) => {
    const { clock, consume, put, told, errors } = stage();
    const consumer = consume(() => Promise.reject(new Error("no luck")), { retry: { attempts: 2, backoff } });
    await put("a");
    await clock.advance("1s");
    expect(told).toEqual([expect.stringMatching(/^retried a in \d{1,4}$/), "buried a: attempts"]);
    expect(errors).toHaveLength(1);
    await consumer.close();
  });

  it("buries a payload that cannot be decoded, and the handler never sees it", async () => {
    const { clock, memory, queue, consume, told } = stage();
    const bytes = { id: "bad", payload: Buffer.from("{"), due: { delay: 0 }, onDuplicate: "keep" as const };
    await memory.open("q").schedule([bytes]);
    const seen: string[] = [];
    const consumer = consume(({ id }) => seen.push(id));
    await clock.advance(0);
    expect([seen, told]).toEqual([[], ["buried bad: undecodable"]]);
    await expect(queue.get("bad")).rejects.toMatchObject({ code: "undecodable", details: { id: "bad", bytes: 1 } });
    const [stored] = await memory.open("q").get(["bad"]);
    expect(stored?.lastError?.message).toMatch(/cannot be decoded\. \(cause: SyntaxError: /);
    await consumer.close();
  });

  it("tells of messages that the store buried", async () => {
    const { clock, queue, consume, told } = stage();
    await queue.schedule("late", { id: "late", delay: "1s", expiresIn: "1s" });
    await clock.advance("1m");
    const consumer = consume(() => {});
    await clock.advance(0);
    expect(told).toEqual(["buried late: expired"]);
    await consumer.close();
  });

  it("keeps the lease of a handler that runs far longer than it", async () => {
    const { clock, consume, put, told } = stage();
    const gate = new Gate();
    let deliveries = 0;
    const consumer = consume(() => (deliveries++, gate.opened), { lease: "1s" });
    await put("a");
    await clock.advance("1m");
    gate.open();
    await consumer.close();
    expect([deliveries, told]).toEqual([1, ["acknowledged a"]]);
  });

  it("tells a handler whose lease could not be kept, and settles nothing of it", async () => {
    const { clock, consume, put, told, faults } = stage();
    faults.set("extend", () => Promise.reject(down));
    const reasons: unknown[] = [];
    const consumer = consume(
      async ({ signal, attempt }) => {
        if (attempt > 1) return;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        reasons.push(signal.reason);
        throw signal.reason;
      },
      { lease: "1s" },
    );
    await put("a");
    await clock.advance("2s");
    expect(reasons).toEqual([expect.objectContaining({ code: "lease-lost", cause: down })]);
    expect(told).toEqual(["leaseLost a: lease-lost", "acknowledged a"]);
    await consumer.close();
  });

  it("frees the place of a handler that is timed out, though it never ends", async () => {
    const { clock, consume, put, told } = stage();
    const options = { concurrency: 1, timeout: "5s", retry: { attempts: 2, backoff: () => "1h" } };
    const consumer = consume(({ id }) => (id === "hangs" ? new Promise(() => {}) : undefined), options);
    await put("hangs", "next");
    await clock.advance("4s");
    expect(told).toEqual([]);
    await clock.advance("1s");
    expect(told).toEqual([`retried hangs in 3600000`, "acknowledged next"]);
    await consumer.close();
    expect(consumer.health().active).toBe(0);
  });

  it("repeats a settlement while the store is down", async () => {
    const { clock, queue, consume, put, told, errors, faults } = stage();
    faults.set("acknowledge", () => Promise.reject(down));
    const consumer = consume(() => {});
    await put("a");
    await clock.advance("20s");
    expect(told).toEqual([]);
    faults.clear();
    await clock.advance("1s");
    expect([told, errors, await queue.get("a")]).toEqual([["acknowledged a"], [], undefined]);
    await consumer.close();
  });

  it("tells of a message that could not be settled before its lease ended, also when nobody waits for it", async () => {
    const { clock, consume, put, errors, faults } = stage();
    faults.set("bury", () => Promise.reject(down));
    const consumer = consume((message) => void message.bury("unwanted"), { lease: "2s" });
    await put("a");
    // An unhandled rejection would end this process.
    await clock.advance("4s");
    expect(errors[0]).toBe(down);
    faults.clear();
    await clock.advance("4s");
    await consumer.close();
  });

  it("tells once of an outage and once of its end, and its health says so meanwhile", async () => {
    const { clock, consume, put, told, errors, faults } = stage();
    const consumer = consume(() => {});
    expect(consumer.health()).toEqual({ state: "starting", active: 0 });
    await clock.advance(0);
    expect(consumer.health()).toMatchObject({ state: "running", lastClaimAt: new Date(clock.now()) });
    faults.set("claim", () => Promise.reject(down));
    await clock.advance("20s");
    expect([errors, consumer.health().state]).toEqual([[down], "recovering"]);
    await put("a");
    faults.clear();
    await clock.advance("1s");
    expect([told, consumer.health().state]).toEqual([["recovered", "acknowledged a"], "running"]);
    await consumer.close();
  });

  it("is recovering when a reply stays away for more than 7.5 s", async () => {
    const { clock, consume, faults } = stage();
    const consumer = consume(() => {});
    await clock.advance(0);
    const gate = new Gate();
    faults.set("claim", () => gate.opened);
    await clock.advance("7500ms");
    expect(consumer.health().state).toBe("running");
    await clock.advance(1);
    expect(consumer.health().state).toBe("recovering");
    gate.open();
    await clock.advance(0);
    expect(consumer.health().state).toBe("running");
    await consumer.close();
  });

  it("starts when the store comes up late", async () => {
    const { clock, consume, put, told, errors, faults } = stage();
    faults.set("watch", () => Promise.reject(down));
    const consumer = consume(() => {});
    await put("a");
    await clock.advance("20s");
    expect([errors, told, consumer.health().state]).toEqual([[down], [], "recovering"]);
    faults.clear();
    await clock.advance("1s");
    expect([told, consumer.health().state]).toEqual([["recovered", "acknowledged a"], "running"]);
    await consumer.close();
  });

  it("closes by itself when its engine is closed, and tells why", async () => {
    const { clock, memory, consume, errors } = stage();
    const consumer = consume(() => {});
    await clock.advance(0);
    await memory.close();
    await clock.advance("10s");
    expect(consumer.health().state).toBe("closed");
    expect(errors).toEqual([expect.objectContaining({ code: "closed" })]);
    await consumer.close();
  });

  it("claims rarely while nothing comes due", async () => {
    const { clock, consume, calls } = stage();
    const consumer = consume(() => {});
    await clock.advance("60s");
    expect(calls.filter((call) => call === "claim").length).toBeLessThanOrEqual(13);
    await consumer.close();
  });
});

describe("closing a consumer", () => {
  it("waits for handlers at work, which may schedule, and takes nothing new", async () => {
    const { clock, queue, consume, put, told } = stage();
    const gate = new Gate();
    const consumer = consume(
      async ({ id }) => {
        await gate.opened;
        await queue.schedule("next", { id: `after ${id}`, delay: 0 });
      },
      { concurrency: 1 },
    );
    await put("a", "b");
    await clock.advance(0);
    let closed = false;
    const closing = consumer.close().then(() => (closed = true));
    await clock.advance("29s");
    expect([closed, consumer.health().state]).toEqual([false, "closing"]);
    gate.open();
    await closing;
    expect(told).toEqual(["acknowledged a"]);
    expect(await queue.counts()).toMatchObject({ due: 2, leased: 0 });
  });

  it("hands back what a claim brings that was under way", async () => {
    const { clock, queue, consume, put, faults } = stage();
    const gate = new Gate();
    faults.set("claim", () => gate.opened);
    await put("a");
    const seen: string[] = [];
    const consumer = consume(({ id }) => seen.push(id));
    await clock.advance(0);
    const closing = consumer.close();
    gate.open();
    await closing;
    expect(seen).toEqual([]);
    expect(await queue.get("a")).toMatchObject({ state: "due", attempt: 0 });
  });

  it("hands leases back when its time is over, then aborts, and what handlers still do settles nothing", async () => {
    const { clock, queue, consume, put, told, errors } = stage();
    const states: unknown[] = [];
    const late: unknown[] = [];
    const consumer = consume(async (message) => {
      await new Promise((resolve) => message.signal.addEventListener("abort", resolve));
      states.push(message.signal.reason, (await queue.get(message.id))?.state);
      await message.acknowledge().catch((error: unknown) => late.push(error));
      throw new Error("interrupted");
    });
    await put("a");
    await clock.advance(0);
    const closing = consumer.close({ timeout: "5s" });
    await clock.advance("4999ms");
    expect(states).toEqual([]);
    await clock.advance(1);
    await closing;
    await clock.advance(0);
    expect(states).toEqual([expect.objectContaining({ code: "closed" }), "due"]);
    expect(late).toEqual([
      expect.objectContaining({ code: "lease-lost", message: expect.stringMatching(/handed back/) }),
    ]);
    expect(await queue.get("a")).toMatchObject({ state: "due", attempt: 0 });
    expect([told, errors]).toEqual([[], []]);
  });

  it("does not wait at all with a time-out of 0", async () => {
    const { clock, queue, consume, put } = stage();
    const consumer = consume(() => new Promise(() => {}));
    await put("a");
    await clock.advance(0);
    await consumer.close({ timeout: 0 });
    expect(await queue.get("a")).toMatchObject({ state: "due", attempt: 0 });
  });

  it("is one close however often it is called, and the shortest time-out counts", async () => {
    const { clock, consume, put } = stage();
    const consumer = consume(() => new Promise(() => {}));
    await put("a");
    await clock.advance(0);
    const all = Promise.all([consumer.close(), consumer.close({ timeout: "1s" }), consumer[Symbol.asyncDispose]()]);
    await clock.advance("1s");
    await all;
    await consumer.close();
    expect(consumer.health().state).toBe("closed");
  });

  it("ends in bounded time while the store is down", async () => {
    const { clock, consume, put, faults } = stage();
    const consumer = consume(() => new Promise(() => {}));
    await put("a");
    await clock.advance(0);
    for (const operation of ["claim", "release", "extend"] as const) faults.set(operation, () => new Promise(() => {}));
    let closed = false;
    void consumer.close({ timeout: "1s" }).then(() => (closed = true));
    await clock.advance("1s");
    expect(closed).toBe(false);
    await clock.advance("5s");
    expect(closed).toBe(true);
  });

  it("ends a consumer that has not started yet", async () => {
    const { clock, memory, calls, faults } = stage();
    const gate = new Gate();
    const ended: string[] = [];
    const engine = interposed(memory, {
      async around(operation, call) {
        calls.push(operation);
        await faults.get(operation)?.();
        return call();
      },
    });
    const { open } = engine;
    engine.open = (name) => {
      const queue = open(name);
      const watch: EngineQueue["watch"] = async (consumer, watcher) => {
        const begun = await queue.watch(consumer, watcher);
        return {
          async [Symbol.asyncDispose]() {
            ended.push(consumer);
            await begun[Symbol.asyncDispose]();
          },
        };
      };
      return { ...queue, watch };
    };
    faults.set("watch", () => gate.opened);
    const consumer = new Queue("q", { engine }).consume(() => {});
    const closing = consumer.close();
    gate.open();
    await closing;
    await clock.advance("1m");
    expect([calls, ended.length]).toEqual([["watch"], 1]);
  });

  it("passes on what it was to look after, so that another consumer is woken", async () => {
    const { clock, put, consume, told } = stage();
    const first = consume(() => {});
    await clock.advance(0);
    const second = consume(() => {});
    await clock.advance(0);
    await first.close();
    await put("a");
    await clock.advance(1);
    expect(told).toEqual(["acknowledged a"]);
    await second.close();
  });

  it("refuses options that there are not", async () => {
    const { consume } = stage();
    const consumer = consume(() => {});
    await expect(consumer.close({ timeout: "soon" })).rejects.toMatchObject({ code: "invalid-argument" });
    await expect(Reflect.apply(consumer.close, consumer, [{ force: true }])).rejects.toMatchObject({
      code: "invalid-argument",
    });
    expect(consumer.health().state).toBe("running");
    await consumer.close();
  });
});

describe("the options of a consumer", () => {
  it.each([
    [{ concurrency: 0 }, /concurrency is 0; accepted is a whole number from 1 to 100,000/],
    [{ concurrency: 100_001 }, /concurrency is 100001/],
    [{ concurrency: 1.5 }, /concurrency is 1.5/],
    [{ lease: 999 }, /lease is 999 ms; accepted is 1000 ms or longer/],
    [{ lease: "1" }, /lease is "1"; accepted is a number of ms/],
    [{ timeout: 0 }, /timeout is 0 ms; accepted is 1 ms or longer/],
    [{ retry: { attempts: 0 } }, /retry.attempts is 0/],
    [{ retry: { backoff: 5 } }, /retry.backoff is 5; accepted is a function/],
    [{ retry: { retries: 5 } }, /retry has no option "retries"/],
    [{ concurency: 5 }, /no option "concurency". Did you mean "concurrency"/],
    [null, /options is null/],
  ])("refuse %o", (options, message) => {
    const { queue } = stage();
    expect(() => Reflect.apply(queue.consume, queue, [() => {}, options])).toThrow(
      expect.objectContaining({ code: "invalid-argument", message: expect.stringMatching(message) }),
    );
  });

  it("may be undefined, and then have their defaults", async () => {
    const { queue } = stage();
    const options = { concurrency: undefined, lease: undefined, retry: undefined, timeout: undefined };
    await queue.consume(() => {}, options).close();
    await queue.consume(() => {}, { retry: { attempts: undefined, backoff: undefined } }).close();
    expect(() => Reflect.apply(queue.consume, queue, ["handler"])).toThrow(
      /handler is "handler"; accepted is a function/,
    );
  });
});
