import { describe, expect, it } from "vitest";
import { consumerStage, down } from "../../test/support/consumer-stage.js";
import { Gate } from "../consumer/gate.js";
import type { Delivery } from "../consumer/delivery.js";
import { PunctualError } from "../errors.js";
import type { DeliveriesOptions } from "./deliveries-options.js";

/** A stage with an iterator over its queue, and a loop over it that writes down what it sees. */
function iterating(options: DeliveriesOptions = {}) {
  const stage = consumerStage();
  const iterable = stage.queue.deliveries(options);
  const seen: string[] = [];
  const end: { error?: unknown; over?: boolean } = {};
  /** Loops until the body says to break. */
  const loop = (body: (delivery: Delivery<string>) => Promise<"break" | void> | void) =>
    (async () => {
      for await (const delivery of iterable) {
        seen.push(delivery.id);
        if ((await body(delivery)) === "break") break;
      }
    })().then(
      () => (end.over = true),
      (error: unknown) => (end.error = error),
    );
  const counts = async () => {
    const { scheduled, due, leased, dead } = await stage.queue.counts();
    return { scheduled, due, leased, dead };
  };
  return { ...stage, iterable, seen, end, loop, counts };
}

const attempts = async ({ queue }: ReturnType<typeof iterating>, ...ids: string[]) =>
  Promise.all(ids.map(async (id) => (await queue.get(id))?.attempt));

describe("deliveries", () => {
  it("uses no attempt of what was claimed so long ago that its lease has ended, and gives it later", async () => {
    const { clock, queue, loop, seen, delays, counts } = iterating({ lease: "1s" });
    const gate = new Gate();
    delays.set("claim", () => (delays.clear(), gate.opened));
    await queue.schedule("once", { id: "a", delay: 0, attempts: 1 });
    void loop((delivery) => delivery.acknowledge());
    await clock.advance("1s");
    gate.open();
    await clock.advance(0);
    expect([seen, await counts()]).toEqual([["a"], { scheduled: 0, due: 0, leased: 0, dead: 0 }]);
  });

  it("gives messages as they come due, for the loop to settle", async () => {
    const { clock, queue, put, loop, seen, counts } = iterating();
    await put("a", "b");
    void loop((delivery) => delivery.acknowledge());
    await clock.advance(0);
    expect([seen, await counts()]).toMatchObject([["a", "b"], { due: 0, leased: 0 }]);
    await queue.schedule("c", { delay: "30m", id: "c" });
    await clock.advance("29m");
    expect(seen).toEqual(["a", "b"]);
    await clock.advance("1m");
    expect(seen).toEqual(["a", "b", "c"]);
  });

  it("fetches ahead until as many are unsettled as may be, and goes on when one is settled", async () => {
    const { clock, put, iterable, counts } = iterating({ concurrency: 3 });
    await put("a", "b", "c", "d", "e");
    const iterator = iterable[Symbol.asyncIterator]();
    const a = await iterator.next();
    await clock.advance("10s");
    expect(await counts()).toMatchObject({ due: 2, leased: 3 });
    await iterator.next();
    await iterator.next();
    let fourth: unknown;
    const next = iterator.next().then((result) => (fourth = result.value));
    await clock.advance("10s");
    expect(fourth).toBeUndefined();
    await (a.value as Delivery<string>).acknowledge();
    await next;
    expect(fourth).toMatchObject({ id: "d" });
    await iterator.return?.();
  });

  it("holds at most twice as many while settlements are slow", async () => {
    const { clock, put, loop, faults, counts } = iterating({ concurrency: 2 });
    const gate = new Gate();
    faults.set("acknowledge", () => gate.opened);
    await put("a", "b", "c", "d", "e", "f");
    void loop((delivery) => void delivery.acknowledge());
    await clock.advance("1s");
    expect(await counts()).toMatchObject({ due: 2, leased: 4 });
    gate.open();
    await clock.advance("1s");
    expect(await counts()).toMatchObject({ due: 0, leased: 0 });
  });

  it("extends the leases of what is held and of what was fetched ahead, for as long as that takes", async () => {
    const { clock, put, iterable, counts, queue } = iterating({ lease: "10s" });
    await put("a", "b");
    const iterator = iterable[Symbol.asyncIterator]();
    const { value: a } = await iterator.next();
    await clock.advance("5m");
    expect([(a as Delivery<string>).signal.aborted, await counts()]).toMatchObject([false, { due: 0, leased: 2 }]);
    const { value: b } = await iterator.next();
    expect(b).toMatchObject({ id: "b", attempt: 1, lateness: 300_000 });
    await (b as Delivery<string>).retry({ delay: 0 });
    expect(await iterator.next()).toMatchObject({ value: { id: "b", attempt: 2 } });
    expect(await queue.get("a")).toMatchObject({ attempt: 1 });
    await iterator.return?.();
  });

  it("serves calls of next in their order, as many as there are", async () => {
    const { clock, put, iterable } = iterating();
    const iterator = iterable[Symbol.asyncIterator]();
    const asked = Promise.all([iterator.next(), iterator.next(), iterator.next()]);
    await clock.advance("1s");
    await put("a");
    await clock.advance(0);
    await put("b", "c");
    const results = await asked;
    expect(results.map(({ value }) => (value as Delivery<string>).id)).toEqual(["a", "b", "c"]);
    await iterator.return?.();
  });

  it("claims nothing before the first next, and gives each iteration a consumer of its own", async () => {
    const { clock, put, iterable, calls, queue } = iterating({ concurrency: 1 });
    await put("a", "b", "c");
    const [first, second] = [iterable[Symbol.asyncIterator](), iterable[Symbol.asyncIterator]()];
    await clock.advance("1m");
    expect(calls).toEqual(["schedule"]);
    const [one, other] = await Promise.all([first.next(), second.next()]);
    expect([one.value, other.value]).toMatchObject([{ id: "a" }, { id: "b" }]);
    await first.return?.();
    await clock.advance("1m");
    await (other.value as Delivery<string>).acknowledge();
    expect((await second.next()).value).toMatchObject({ id: expect.stringMatching(/a|c/) });
    expect(await queue.counts()).toMatchObject({ leased: 1 });
    await second.return?.();
  });

  it("passes over what cannot be decoded, which goes to the dead letters, and what lost its lease before it was taken", async () => {
    const { clock, memory, put, iterable, faults, queue } = iterating({ concurrency: 4, lease: "5s" });
    await put("a", "b", "c");
    const bad = { id: "bad", payload: Buffer.from("{"), due: { delay: 0 }, onDuplicate: "keep" as const };
    await memory.open("q").schedule([bad]);
    const iterator = iterable[Symbol.asyncIterator]();
    await iterator.next();
    await clock.advance("1s");
    expect((await queue.list({ state: "dead" })).messages).toMatchObject([{ id: "bad" }]);
    faults.set("extend", () => Promise.reject(down));
    faults.set("claim", () => Promise.reject(down));
    await clock.advance("10s");
    faults.clear();
    await clock.advance("10s");
    expect([(await iterator.next()).value, (await iterator.next()).value]).toMatchObject([
      { id: "a", attempt: 2 },
      { id: "b", attempt: 2 },
    ]);
    await iterator.return?.();
  });

  it("aborts and retries what is held longer than the time-out, counted from when it was taken", async () => {
    const { clock, put, iterable, queue } = iterating({ timeout: "10s", retry: { backoff: () => "1h" } });
    await put("a", "b");
    const iterator = iterable[Symbol.asyncIterator]();
    const { value: a } = await iterator.next();
    const { signal } = a as Delivery<string>;
    await clock.advance("9999ms");
    expect(signal.aborted).toBe(false);
    await clock.advance("1ms");
    expect(signal.reason).toMatchObject({ code: "timed-out" });
    expect(await queue.get("a")).toMatchObject({
      state: "scheduled",
      attempt: 1,
      lastError: { name: "PunctualError" },
    });
    await expect((a as Delivery<string>).acknowledge()).rejects.toThrow("it was held longer than the time-out");
    await clock.advance("1m");
    const { value: b } = await iterator.next();
    expect((b as Delivery<string>).signal.aborted).toBe(false);
    await iterator.return?.();
  });

  describe("ends", () => {
    const ways: [string, (held: ReturnType<typeof iterating>, iterator: AsyncIterator<unknown>) => Promise<unknown>][] =
      [
        ["by break", (_, iterator) => iterator.return!()],
        ["by throw", (_, iterator) => iterator.throw!(new Error("no")).catch(() => {})],
      ];

    it.each(ways)(
      "%s: what was not taken is due at once without an attempt, what was can be settled",
      async (_, way) => {
        const held = iterating({ lease: "10s" });
        const { clock, put, iterable, counts, calls, queue } = held;
        await put("a", "b", "c");
        const iterator = iterable[Symbol.asyncIterator]();
        const { value: a } = await iterator.next();
        const { value: b } = await iterator.next();
        await way(held, iterator);
        expect([await counts(), await attempts(held, "c")]).toMatchObject([{ due: 1, leased: 2 }, [0]]);
        const soFar = calls.length;
        await clock.advance("9s");
        expect(calls.slice(soFar)).toEqual([]);
        await (a as Delivery<string>).acknowledge();
        expect(await queue.get("a")).toBeUndefined();
        await clock.advance("1s");
        expect((b as Delivery<string>).signal.reason).toMatchObject({ code: "lease-lost" });
        expect(await queue.get("b")).toMatchObject({ state: "due", attempt: 1 });
        expect(await iterator.next()).toEqual({ done: true, value: undefined });
        expect(await iterator.return!()).toEqual({ done: true, value: undefined });
      },
    );

    it("by a break in a loop, and by an error in it, which the loop throws", async () => {
      const broken = iterating();
      await broken.put("a", "b");
      await broken.loop(async () => "break" as const);
      expect([broken.end, broken.seen, await broken.counts()]).toMatchObject([
        { over: true },
        ["a"],
        { due: 1, leased: 1 },
      ]);
      const thrown = iterating();
      await thrown.put("a", "b");
      const error = new Error("no");
      await thrown.loop(() => {
        throw error;
      });
      expect([thrown.end, await thrown.counts()]).toMatchObject([{ error }, { due: 1, leased: 1 }]);
    });

    it("by throw with that error", async () => {
      const { iterable } = iterating();
      const error = new Error("no");
      await expect(iterable[Symbol.asyncIterator]().throw!(error)).rejects.toBe(error);
    });

    it("without an error when its signal aborts, also in the middle of a wait, for all who wait", async () => {
      const controller = new AbortController();
      const { clock, put, iterable, counts } = iterating({ signal: controller.signal });
      const iterator = iterable[Symbol.asyncIterator]();
      const asked = Promise.all([iterator.next(), iterator.next()]);
      await clock.advance("1m");
      controller.abort(new Error("enough"));
      expect(await asked).toEqual([
        { done: true, value: undefined },
        { done: true, value: undefined },
      ]);
      await put("a");
      await clock.advance("1m");
      expect(await counts()).toMatchObject({ due: 1, leased: 0 });
    });

    it("before it began when its signal was aborted before", async () => {
      const { loop, put, end, calls, seen } = iterating({ signal: AbortSignal.abort() });
      await put("a");
      await loop(() => {});
      expect([end, seen, calls]).toEqual([{ over: true }, [], ["schedule"]]);
    });

    it("after what a late claim brought was handed back", async () => {
      const { clock, put, iterable, delays, counts } = iterating();
      await put("a");
      const gate = new Gate();
      delays.set("claim", () => gate.opened);
      const iterator = iterable[Symbol.asyncIterator]();
      const asked = iterator.next();
      await clock.advance("1s");
      let ended = false;
      const end = iterator.return!().then(() => (ended = true));
      await clock.advance("1s");
      expect([ended, await counts()]).toMatchObject([false, { leased: 1 }]);
      gate.open();
      await end;
      expect([await asked, await counts()]).toMatchObject([{ done: true }, { due: 1, leased: 0 }]);
    });

    it("in time although the store does not answer", async () => {
      const { clock, put, iterable, delays } = iterating();
      await put("a", "b");
      const iterator = iterable[Symbol.asyncIterator]();
      await iterator.next();
      delays.set("release", () => new Promise(() => {}));
      let ended = false;
      void iterator.return!().then(() => (ended = true));
      await clock.advance("4s");
      expect(ended).toBe(false);
      await clock.advance("2s");
      expect(ended).toBe(true);
    });

    it("and then asks no longer for what a claim without a reply may have taken", async () => {
      const { clock, iterable, delays, calls } = iterating();
      delays.set("claim", () => Promise.reject(new PunctualError("outcome-unknown", "The reply was lost.")));
      const iterator = iterable[Symbol.asyncIterator]();
      const asked = iterator.next();
      await clock.advance("1s");
      let ended = false;
      void iterator.return!().then(() => (ended = true));
      const before = calls.length;
      await clock.advance("6s");
      expect([ended, calls.length > before]).toEqual([true, true]);
      const after = calls.length;
      await clock.advance("1m");
      expect([await asked, calls.length]).toEqual([{ done: true, value: undefined }, after]);
    });

    it("at once while it waits to try again to watch", async () => {
      const { clock, iterable, faults } = iterating();
      faults.set("watch", () => Promise.reject(down));
      const iterator = iterable[Symbol.asyncIterator]();
      const asked = iterator.next();
      await clock.advance("10s");
      await iterator.return!();
      expect(await asked).toEqual({ done: true, value: undefined });
    });

    it("not by an outage of the store", async () => {
      const { clock, put, loop, end, seen, faults } = iterating();
      faults.set("claim", () => Promise.reject(down));
      faults.set("watch", () => Promise.reject(down));
      void loop((delivery) => delivery.acknowledge());
      await clock.advance("10m");
      faults.clear();
      await put("a");
      await clock.advance("5s");
      expect([seen, end]).toEqual([["a"], {}]);
    });

    it("with closed when the engine is closed", async () => {
      const { clock, memory, loop, end } = iterating();
      void loop(() => {});
      await clock.advance("1s");
      await memory.close();
      await clock.advance("20s");
      expect(end.error).toMatchObject({ code: "closed" });
    });
  });

  it.each([
    [{ concurrency: 0 }, "concurrency"],
    [{ lease: 1 }, "lease"],
    [{ signal: 7 as unknown as AbortSignal }, "signal"],
    [{ max: 3 }, "options"],
  ])("refuses %j before any iteration", (options, argument) => {
    const { queue } = consumerStage();
    expect(() => queue.deliveries(options as DeliveriesOptions)).toThrow(
      expect.objectContaining({ code: "invalid-argument", details: expect.objectContaining({ argument }) }),
    );
  });
});
