import { describe, expect, it } from "vitest";
import { consumerStage, down } from "../../test/support/consumer-stage.js";
import { Reply, scriptedQueue } from "../../test/support/scripted-queue.js";
import { textCodec } from "../codec.js";
import { defaultRandomness } from "../consumer/consumer.js";
import type { Delivery } from "../consumer/delivery.js";
import { Gate } from "../consumer/gate.js";
import type { ClaimRequest, ClaimResult } from "../engine.js";
import { PunctualError } from "../errors.js";
import { manualClock } from "../testing/manual-clock.js";
import { type ReceiveOptions, readReceiveOptions } from "./receive-options.js";
import { Receiver } from "./receiver.js";

const ids = (deliveries: readonly Delivery<string>[]) => deliveries.map(({ id }) => id);

/** A receiver whose claims wait for the test. */
function scripted() {
  const clock = manualClock(0);
  const claims: { request: ClaimRequest; reply: Reply<ClaimResult> }[] = [];
  const queue = scriptedQueue(clock, {
    claim(request) {
      const reply = new Reply<ClaimResult>();
      claims.push({ request, reply });
      return reply.promise;
    },
  });
  const receiver = new Receiver(queue, textCodec(), defaultRandomness, clock);
  const receive = () => {
    receiver.mayFind();
    return watched(receiver.receive(readReceiveOptions({})));
  };
  const answer = (index: number) => {
    const now = clock.now();
    const nothing = { messages: [], leaseUntil: now + 30_000, now, nextAt: now + 5_000, buried: [], missing: [] };
    claims[index]?.reply.give(nothing);
  };
  return { clock, claims, receive, answer };
}

/** What became of a promise so far. */
function watched<Value>(promise: Promise<Value>) {
  const seen: { value?: Value; error?: unknown } = {};
  promise.then(
    (value) => (seen.value = value),
    (error: unknown) => (seen.error = error),
  );
  return seen;
}

describe("receive", () => {
  it("gives what is due behind what has expired", async () => {
    const { clock, queue } = consumerStage();
    for (const id of ["a", "b", "c"]) await queue.schedule(id, { id, delay: 0, expiresIn: 1 });
    await clock.advance("1s");
    await queue.schedule("good", { id: "good", delay: 0 });
    expect(await queue.receive()).toMatchObject([{ id: "good" }]);
  });

  it("takes one message that is due, which is then settled by hand", async () => {
    const { queue, put } = consumerStage();
    await put("a", "b");
    const [a] = await queue.receive();
    expect(a).toMatchObject({ id: "a", payload: "a", attempt: 1, attempts: 5, lateness: 0 });
    expect(await queue.counts()).toMatchObject({ due: 1, leased: 1 });
    await a?.acknowledge();
    expect(await queue.get("a")).toBeUndefined();
    await expect(a?.retry()).rejects.toMatchObject({ code: "lease-lost" });
  });

  it("takes as many as it may, in due order, and no more", async () => {
    const { queue, put } = consumerStage();
    await put("a", "b", "c");
    expect(ids(await queue.receive({ max: 2 }))).toEqual(["a", "b"]);
    expect(ids(await queue.receive({ max: 1_000, attempts: 2 }))).toEqual(["c"]);
  });

  it("claims on while more is due and there is room, although one claim brings only some", async () => {
    const { queue, put } = consumerStage();
    await put(...Array.from({ length: 700 }, (_, index) => `m${index}`));
    const received = await queue.receive({ max: 650 });
    expect(received).toHaveLength(650);
    expect(new Set(ids(received)).size).toBe(650);
  });

  it("answers at once that nothing is due, leaves no watch behind, and waits for nothing", async () => {
    const { queue, calls } = consumerStage();
    await queue.schedule("a", { delay: "1h" });
    expect(await queue.receive()).toEqual([]);
    expect(calls).toEqual(["schedule", "claim"]);
  });

  it("claims under a name that nobody else has at the time, with a token of its own, and is not to be waited for", async () => {
    const { clock, claims, receive, answer } = scripted();
    for (let call = 0; call < 2; call++) receive();
    await clock.advance(0);
    answer(0);
    await clock.advance(0);
    receive();
    await clock.advance(0);
    const requests = claims.map(({ request }) => request);
    expect(requests.map(({ returns }) => returns)).toEqual([false, false, false]);
    expect(new Set(requests.map(({ token }) => token)).size).toBe(3);
    const [first, second, third] = requests.map(({ consumer }) => consumer);
    expect([first === second, first === third]).toEqual([false, true]);
    answer(1);
    answer(2);
    await clock.advance(0);
  });

  it("keeps the name of a claim that it gave up out of use while that is under way", async () => {
    const { clock, claims, receive } = scripted();
    const given = receive();
    await clock.advance(0);
    claims[0]?.reply.fail(new PunctualError("outcome-unknown", "The reply was lost."));
    await clock.advance("6s");
    expect(given.error).toMatchObject({ code: "outcome-unknown" });
    receive();
    await clock.advance(0);
    await clock.advance("1m");
    expect(claims).toHaveLength(3);
    const [first, again, other] = claims.map(({ request }) => request);
    expect([first?.token === again?.token, first?.consumer === other?.consumer]).toEqual([true, false]);
  });

  it("waits as a consumer does: is woken by a schedule, and ends its watch", async () => {
    const { clock, queue, calls } = consumerStage();
    const received = watched(queue.receive({ wait: "1h" }));
    await clock.advance("20m");
    expect(received).toEqual({});
    await queue.schedule("a", { delay: "1m", id: "a" });
    await clock.advance("59s");
    expect(received).toEqual({});
    await clock.advance("1s");
    expect(received.value).toMatchObject([{ id: "a", lateness: 0 }]);
    const soFar = calls.length;
    await clock.advance("1h");
    expect(calls.slice(soFar)).toEqual([]);
  });

  it("answers that nothing came when the wait is over, after claims as seldom as those of a consumer", async () => {
    const { clock, queue, calls } = consumerStage();
    const received = watched(queue.receive({ wait: "1m" }));
    await clock.advance("59s");
    expect(received).toEqual({});
    await clock.advance("1s");
    expect(received.value).toEqual([]);
    expect(calls.filter((call) => call === "claim").length).toBeLessThanOrEqual(15);
    await clock.advance("1h");
    expect(calls.filter((call) => call === "claim").length).toBeLessThanOrEqual(15);
  });

  it("goes on when all that it got was undecodable and went to the dead letters", async () => {
    const { clock, queue, memory } = consumerStage();
    const bad = { payload: Buffer.from("{"), onDuplicate: "keep" as const, due: { delay: 0 } };
    await memory.open("q").schedule([{ id: "bad", ...bad }]);
    expect(await queue.receive()).toEqual([]);
    expect(await queue.get("bad").catch((error: unknown) => error)).toMatchObject({ code: "undecodable" });
    expect((await queue.list({ state: "dead" })).messages).toMatchObject([
      { id: "bad", buried: { reason: "undecodable" } },
    ]);
    const received = watched(queue.receive({ wait: "1h" }));
    await memory.open("q").schedule([{ id: "worse", ...bad }]);
    await clock.advance("1s");
    expect(received).toEqual({});
    await queue.schedule("good", { delay: 0 });
    await clock.advance("1s");
    expect(received.value).toMatchObject([{ payload: "good" }]);
  });

  describe("the lease", () => {
    it("is extended by nobody but you; when its end passes, the signal aborts and nothing can be settled", async () => {
      const { clock, queue, put, calls } = consumerStage();
      await put("a", "b");
      const [a, b] = await queue.receive({ max: 2, lease: "10s" });
      const aborted = [a, b].map((delivery) => delivery!.signal);
      await clock.advance("9s");
      await a!.extend();
      await b!.extend("5s");
      await clock.advance("6s");
      expect(aborted.map((signal) => signal.aborted)).toEqual([false, true]);
      await clock.advance("3s");
      await a!.extend("1h");
      await clock.advance("59m");
      expect(aborted.map((signal) => signal.aborted)).toEqual([false, true]);
      expect(aborted[1]?.reason).toMatchObject({ code: "lease-lost" });
      await expect(b!.acknowledge()).rejects.toMatchObject({ code: "lease-lost" });
      await a!.acknowledge();
      expect(calls.filter((call) => call === "extend")).toHaveLength(3);
      expect(await queue.receive()).toMatchObject([{ id: "b", attempt: 2 }]);
    });

    it("leaves no timer behind when all is settled", async () => {
      const { queue, put, timers } = timersOf(consumerStage());
      await put("a", "b");
      const deliveries = await queue.receive({ max: 2 });
      await Promise.all(deliveries.map((delivery) => delivery.release({ delay: "1h" })));
      expect(timers()).toBe(0);
    });
  });

  describe("that is aborted", () => {
    it("rejects with the reason before anything is claimed, when it was aborted before", async () => {
      const { queue, put, calls } = consumerStage();
      await put("a");
      const reason = new Error("enough");
      await expect(queue.receive({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
      expect(calls).toEqual(["schedule"]);
    });

    it("rejects with the reason while it waits, and takes nothing that comes later", async () => {
      const { clock, queue, put } = consumerStage();
      const controller = new AbortController();
      const received = watched(queue.receive({ wait: "1h", signal: controller.signal }));
      await clock.advance("1m");
      const reason = new Error("enough");
      controller.abort(reason);
      await clock.advance(0);
      expect(received.error).toBe(reason);
      await put("a");
      await clock.advance("1h");
      expect(await queue.get("a")).toMatchObject({ state: "due", attempt: 0 });
    });

    it("rejects only when the store has taken back what came too late", async () => {
      const { clock, queue, put, delays } = consumerStage();
      await put("a");
      const [claimed, released] = [new Gate(), new Gate()];
      delays.set("claim", () => claimed.opened);
      delays.set("release", () => released.opened);
      const controller = new AbortController();
      const received = watched(queue.receive({ signal: controller.signal }));
      await clock.advance(0);
      controller.abort();
      claimed.open();
      await clock.advance("1s");
      expect(received).toEqual({});
      released.open();
      await clock.advance(0);
      expect(received.error).toBeDefined();
    });

    it("hands back what came too late before it rejects, and uses no attempt", async () => {
      const { clock, queue, put, delays } = consumerStage();
      await put("a");
      const gate = new Gate();
      delays.set("claim", () => gate.opened);
      const controller = new AbortController();
      const received = watched(queue.receive({ signal: controller.signal }));
      await clock.advance(0);
      controller.abort();
      await clock.advance("1s");
      expect(received).toEqual({});
      gate.open();
      await clock.advance(0);
      expect(received.error).toMatchObject({ name: "AbortError" });
      expect(await queue.get("a")).toMatchObject({ state: "due", attempt: 0 });
    });
  });

  describe("while the store does not answer", () => {
    it("rejects with the failure when it does not wait", async () => {
      const { queue, faults, put, calls } = consumerStage();
      await put("a");
      faults.set("claim", () => Promise.reject(down));
      await expect(queue.receive()).rejects.toBe(down);
      expect(calls.filter((call) => call === "claim")).toHaveLength(1);
    });

    it("asks again with the same token when the reply was lost, so nothing stays behind under a lease", async () => {
      const { clock, queue, put, delays } = consumerStage();
      await put("a", "b");
      const lost = new PunctualError("outcome-unknown", "The reply was lost.");
      delays.set("claim", async () => {
        delays.clear();
        throw lost;
      });
      const received = watched(queue.receive());
      await clock.advance("1s");
      expect(received.value).toMatchObject([{ id: "a", attempt: 1 }]);
      expect(await queue.counts()).toMatchObject({ due: 1, leased: 1 });
    });

    it("gives up 5 s after a lost reply, and hands back what comes even later", async () => {
      const { clock, queue, put, delays } = consumerStage();
      await put("a");
      const lost = new PunctualError("outcome-unknown", "The reply was lost.");
      const gate = new Gate();
      delays.set("claim", async () => {
        delays.set("claim", () => gate.opened);
        throw lost;
      });
      const received = watched(queue.receive());
      await clock.advance("4900ms");
      expect(received).toEqual({});
      await clock.advance("1s");
      expect(received.error).toBe(lost);
      delays.clear();
      gate.open();
      await clock.advance(0);
      expect(await queue.get("a")).toMatchObject({ state: "due", attempt: 0 });
    });

    it("goes on waiting through an outage, and rejects only when the wait ends in one", async () => {
      const { clock, queue, put, faults } = consumerStage();
      faults.set("claim", () => Promise.reject(down));
      const first = watched(queue.receive({ wait: "1h" }));
      const second = watched(queue.receive({ wait: "1m" }));
      await clock.advance("2m");
      expect([first, second]).toEqual([{}, { error: down }]);
      faults.clear();
      await put("a");
      await clock.advance("5s");
      expect(first.value).toMatchObject([{ id: "a" }]);
    });

    it("answers that nothing came when the store has recovered before the wait is over", async () => {
      const { clock, queue, faults } = consumerStage();
      faults.set("claim", () => Promise.reject(down));
      const received = watched(queue.receive({ wait: "1m" }));
      await clock.advance("30s");
      faults.clear();
      await clock.advance("30s");
      expect(received).toEqual({ value: [] });
    });

    it("uses no attempt of what was claimed so long ago that its lease has ended, and receives it again", async () => {
      const { clock, queue, delays } = consumerStage();
      const gate = new Gate();
      delays.set("claim", () => (delays.clear(), gate.opened));
      await queue.schedule("once", { id: "a", delay: 0, attempts: 1 });
      const received = watched(queue.receive({ lease: "1s" }));
      await clock.advance("1s");
      gate.open();
      await clock.advance(0);
      expect(received.value).toMatchObject([{ id: "a", attempt: 1 }]);
    });

    it("rejects when the store was out of reach from the start, though the wait was over before it answered again", async () => {
      const { clock, queue, faults } = consumerStage();
      let tries = 0;
      faults.set("claim", async () => {
        if (++tries === 1) throw down;
        await new Promise(() => {});
      });
      const received = watched(queue.receive({ wait: "2s" }));
      await clock.advance("10s");
      expect(received.error).toBe(down);
    });

    it("rejects with closed when the engine is closed while it waits", async () => {
      const { clock, queue, memory } = consumerStage();
      const received = watched(queue.receive({ wait: "1h" }));
      await clock.advance("1s");
      await memory.close();
      await clock.advance("6s");
      expect(received.error).toMatchObject({ code: "closed" });
    });
  });

  it.each([
    [{ max: 0 }, "max"],
    [{ max: 1_001 }, "max"],
    [{ max: 1.5 }, "max"],
    [{ wait: "1500" }, "wait"],
    [{ wait: -1 }, "wait"],
    [{ lease: "999ms" }, "lease"],
    [{ attempts: 0 }, "attempts"],
    [{ signal: {} as AbortSignal }, "signal"],
    [{ limit: 3 }, "options"],
  ])("refuses %j", async (options, argument) => {
    const { queue, calls } = consumerStage();
    await expect(queue.receive(options as ReceiveOptions)).rejects.toMatchObject({
      code: "invalid-argument",
      details: { argument },
    });
    expect(calls).toEqual([]);
  });
});

/** Counts the timers that are set on the clock of a stage. */
function timersOf(stage: ReturnType<typeof consumerStage>) {
  const open = new Set<object>();
  for (const name of ["runAt", "runAfter"] as const) {
    const set = stage.clock[name];
    stage.clock[name] = (time, callback) => {
      const timer = {};
      open.add(timer);
      const cancel = set(time, () => {
        open.delete(timer);
        callback();
      });
      return () => {
        open.delete(timer);
        cancel();
      };
    };
  }
  return { ...stage, timers: () => open.size };
}
