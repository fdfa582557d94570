import { describe, expect, it } from "vitest";
import { consumerStage, down } from "../../test/support/consumer-stage.js";
import { Gate } from "./gate.js";

const noJitter = { backoff: (attempt: number) => attempt * 1_000 };

describe("a consumer", () => {
  it("delivers a message at its due time and acknowledges it", async () => {
    const { clock, queue, consume, told } = consumerStage();
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
    const { clock, consume, put } = consumerStage();
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
    const { clock, queue, consume, put, faults } = consumerStage();
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

  it("hands back, without using an attempt, what was claimed so long ago that its lease has ended", async () => {
    const { clock, consume, put, told, delays } = consumerStage();
    const gate = new Gate();
    delays.set("claim", () => gate.opened);
    const attempts: number[] = [];
    await put("a");
    const consumer = consume(({ attempt }) => attempts.push(attempt), { lease: "1s" });
    await clock.advance("1s");
    delays.clear();
    gate.open();
    await clock.advance("10s");
    expect([attempts, told]).toEqual([[1], ["acknowledged a"]]);
    await consumer.close();
  });

  it("claims again only when what it hands back so has arrived, because a claim would count it", async () => {
    const { clock, queue, consume, put, calls, delays, faults } = consumerStage();
    const answered = new Gate();
    const released = new Gate();
    delays.set("claim", () => answered.opened);
    faults.set("release", () => released.opened);
    await queue.schedule("once", { id: "a", delay: 0, attempts: 1 });
    const consumer = consume(() => {}, { lease: "1s" });
    await clock.advance("1s");
    delays.clear();
    answered.open();
    await put("b");
    await clock.advance("4s");
    expect(calls.filter((call) => call === "claim")).toHaveLength(1);
    released.open();
    await clock.advance("1s");
    expect(await queue.counts()).toMatchObject({ due: 0, leased: 0, dead: 0 });
    await consumer.close();
  });

  it("goes on when its clock is set back, as to claims, time-outs and what it says of itself", async () => {
    const { clock, consume, put, told, calls } = consumerStage();
    const { now, runAt } = clock;
    let back = 0;
    clock.now = () => now() - back;
    clock.runAt = (time, callback) => {
      let cancel = () => {};
      const arm = () => void (cancel = runAt(time + back, () => (clock.now() >= time ? callback() : arm())));
      arm();
      return () => cancel();
    };
    const consumer = consume(({ id }) => (id === "hangs" ? new Promise(() => {}) : undefined), {
      timeout: "20s",
      retry: noJitter,
    });
    await put("hangs");
    await clock.advance(0);
    back = 3_600_000;
    const before = calls.length;
    await clock.advance("19s");
    expect(calls.slice(before).filter((call) => call === "claim").length).toBeGreaterThanOrEqual(3);
    expect([consumer.health().state, told]).toEqual(["running", []]);
    await clock.advance("1s");
    expect(told).toEqual(["retried hangs in 1000"]);
    await consumer.close({ timeout: 0 });
  });

  it("retries by the policy and buries after the last attempt, with the error", async () => {
    const { clock, queue, consume, put, told } = consumerStage();
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
    const { clock, consume, put, told, errors } = consumerStage();
    const consumer = consume(() => Promise.reject(new Error("no luck")), { retry: { attempts: 2, backoff } });
    await put("a");
    await clock.advance("1s");
    expect(told).toEqual([expect.stringMatching(/^retried a in \d{1,4}$/), "buried a: attempts"]);
    expect(errors).toHaveLength(1);
    await consumer.close();
  });

  it("buries a payload that cannot be decoded, and the handler never sees it", async () => {
    const { clock, memory, queue, consume, told } = consumerStage();
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
    const { clock, queue, consume, told } = consumerStage();
    await queue.schedule("late", { id: "late", delay: "1s", expiresIn: "1s" });
    await clock.advance("1m");
    const consumer = consume(() => {});
    await clock.advance(0);
    expect(told).toEqual(["buried late: expired"]);
    await consumer.close();
  });

  it("keeps the lease of a handler that runs far longer than it", async () => {
    const { clock, consume, put, told } = consumerStage();
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
    const { clock, consume, put, told, faults } = consumerStage();
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
    const { clock, consume, put, told } = consumerStage();
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
    const { clock, queue, consume, put, told, errors, faults } = consumerStage();
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
    const { clock, consume, put, errors, faults } = consumerStage();
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
    const { clock, consume, put, told, errors, faults } = consumerStage();
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
    const { clock, consume, faults } = consumerStage();
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
    const { clock, consume, put, told, errors, faults } = consumerStage();
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
    const { clock, memory, consume, errors } = consumerStage();
    const consumer = consume(() => {});
    await clock.advance(0);
    await memory.close();
    await clock.advance(0);
    expect(consumer.health().state).toBe("closed");
    expect(errors).toEqual([expect.objectContaining({ code: "closed" })]);
    await consumer.close();
  });

  it("aborts a handler at work when its engine is closed, and waits for it no more", async () => {
    const { clock, memory, consume, put } = consumerStage();
    const reasons: unknown[] = [];
    const consumer = consume(async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      reasons.push(signal.reason);
    });
    await put("a");
    await clock.advance(0);
    await memory.close();
    await clock.advance(0);
    expect([consumer.health().state, reasons]).toEqual(["closed", [expect.objectContaining({ code: "closed" })]]);
  });

  it("is in one call with the others when it extends leases by hand", async () => {
    const { clock, queue, consume, put, calls } = consumerStage();
    const gate = new Gate();
    const consumer = consume(async (message) => {
      await message.extend("1m");
      await gate.opened;
    });
    await put("a", "b", "c");
    await clock.advance(0);
    expect(calls.filter((call) => call === "extend")).toHaveLength(1);
    expect((await queue.get("c"))?.leaseUntil?.getTime()).toBe(clock.now() + 60_000);
    gate.open();
    await consumer.close();
  });

  it("leaves a lease alone that is being extended by hand, so that it is not made shorter", async () => {
    const { clock, queue, consume, put, delays } = consumerStage();
    const gate = new Gate();
    const held = new Gate();
    const consumer = consume(
      async (message) => {
        await message.extend("1h");
        await held.opened;
      },
      { lease: "30s" },
    );
    delays.set("extend", () => (delays.delete("extend"), gate.opened));
    await put("a");
    const until = clock.now() + 3_600_000;
    await clock.advance("15s");
    gate.open();
    await clock.advance("15s");
    expect((await queue.get("a"))?.leaseUntil?.getTime()).toBe(until);
    held.open();
    await consumer.close();
  });

  it("claims rarely while nothing comes due", async () => {
    const { clock, consume, calls } = consumerStage();
    const consumer = consume(() => {});
    await clock.advance("60s");
    expect(calls.filter((call) => call === "claim").length).toBeLessThanOrEqual(13);
    await consumer.close();
  });
});
