import { describe, expect, it } from "vitest";
import { consumerStage } from "../../test/support/consumer-stage.js";
import { scriptedQueue } from "../../test/support/scripted-queue.js";
import { jsonCodec } from "../codec.js";
import type { EngineQueue } from "../engine.js";
import { Queue } from "../queue.js";
import { interposed } from "../testing/conformance/interposed-engine.js";
import { manualClock } from "../testing/manual-clock.js";
import { readConsumeOptions } from "./consume-options.js";
import { QueueConsumer } from "./consumer.js";
import { Gate } from "./gate.js";

describe("closing a consumer", () => {
  it("waits for handlers at work, which may schedule, and takes nothing new", async () => {
    const { clock, queue, consume, put, told } = consumerStage();
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
    const { clock, queue, consume, put, faults } = consumerStage();
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

  it.each([0, 1_000])("hands back what came and has not begun, also with a time-out of %i ms", async (timeout) => {
    const clock = manualClock(0);
    const returned: string[] = [];
    const gate = new Gate();
    const message = { payload: Buffer.from('"x"'), dueAt: 0, attempt: 1, attempts: 5 };
    let claims = 0;
    const queue = scriptedQueue(clock, {
      watch: async () => ({ [Symbol.asyncDispose]: async () => {} }),
      sent: () => gate.opened,
      claim: async () => {
        const messages = claims++ === 0 ? ["a", "b"].map((id) => ({ ...message, id })) : [];
        const nextAt = claims === 1 ? 0 : 60_000;
        return { messages, leaseUntil: 30_000, now: 0, nextAt, buried: [], missing: [] };
      },
      release: async (receipts) => {
        for (let hop = 0; hop < 50; hop++) await Promise.resolve();
        returned.push(...receipts.map(({ id }) => id));
        return receipts.map(() => "settled");
      },
    });
    const seen: string[] = [];
    const settings = readConsumeOptions({ concurrency: 5 });
    const consumer = new QueueConsumer(queue, jsonCodec<string>(), ({ id }) => seen.push(id), settings);
    consumer.start();
    await clock.advance(0);
    const closing = consumer.close({ timeout });
    for (let hop = 0; hop < 50; hop++) await Promise.resolve();
    gate.open();
    await closing;
    expect({ seen, returned, claims }).toEqual({ seen: [], returned: ["a", "b"], claims: 2 });
  });

  it("hands leases back when its time is over, then aborts, and what handlers still do settles nothing", async () => {
    const { clock, queue, consume, put, told, errors } = consumerStage();
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
    const { clock, queue, consume, put } = consumerStage();
    const consumer = consume(() => new Promise(() => {}));
    await put("a");
    await clock.advance(0);
    await consumer.close({ timeout: 0 });
    expect(await queue.get("a")).toMatchObject({ state: "due", attempt: 0 });
  });

  it("is one close however often it is called, and the shortest time-out counts", async () => {
    const { clock, consume, put } = consumerStage();
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
    const { clock, consume, put, faults } = consumerStage();
    const consumer = consume(() => new Promise(() => {}));
    await put("a");
    await clock.advance(0);
    for (const operation of ["claim", "release", "extend"] as const) faults.set(operation, () => new Promise(() => {}));
    let closed = false;
    void consumer.close({ timeout: "1s" }).then(() => (closed = true));
    await clock.advance("1s");
    expect(closed).toBe(false);
    await clock.advance("1s");
    expect(closed).toBe(true);
  });

  it("takes its time-out and one second at most, whichever calls are not answered", async () => {
    for (const silent of [["claim"], ["release"], ["claim", "release"], ["acknowledge"]] as const) {
      const { clock, consume, put, faults } = consumerStage();
      const consumer = consume(({ id }) => (id === "hangs" ? new Promise(() => {}) : undefined));
      for (const operation of silent) faults.set(operation, () => new Promise(() => {}));
      await put("hangs", "a");
      await clock.advance(0);
      let closed = false;
      void consumer.close({ timeout: "8s" }).then(() => (closed = true));
      await clock.advance("9s");
      expect([silent, closed]).toEqual([silent, true]);
    }
  });

  it("leaves no timer of a handler behind, which would keep the process alive for as long as it might have run", async () => {
    const { clock, consume, put } = consumerStage();
    const timers = new Set<object>();
    for (const name of ["runAt", "runAfter"] as const) {
      const set = clock[name];
      clock[name] = (time, callback) => {
        const cancel = set(time, () => (timers.delete(cancel), callback()));
        timers.add(cancel);
        return () => (timers.delete(cancel), cancel());
      };
    }
    const consumer = consume(() => new Promise(() => {}), { timeout: "1h" });
    await put("a");
    await clock.advance("1m");
    await consumer.close({ timeout: 0 });
    expect(timers.size).toBe(0);
  });

  it("ends a consumer that has not started yet", async () => {
    const { clock, memory, calls, faults } = consumerStage();
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
    await clock.advance(0);
    gate.open();
    await closing;
    await clock.advance("1m");
    expect([calls, ended.length]).toEqual([["watch"], 1]);
  });

  it("passes on what it was to look after, so that another consumer is woken", async () => {
    const { clock, put, consume, told } = consumerStage();
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

  it("passes it on as soon as it claims no more, not when its last handler ends", async () => {
    const { clock, memory, consume, put } = consumerStage();
    const gate = new Gate();
    const closing = consume(() => gate.opened);
    await put("long");
    await clock.advance(0);
    const lateness: number[] = [];
    const other = new Queue<string>("q", { engine: memory }).consume((message) => void lateness.push(message.lateness));
    await clock.advance(0);
    const closed = closing.close();
    await clock.advance(0);
    await new Queue<string>("q", { engine: memory }).schedule("next", { delay: 100 });
    await clock.advance(100);
    expect(lateness).toEqual([0]);
    gate.open();
    await closed;
    await other.close();
  });

  it("refuses options that there are not", async () => {
    const { consume } = consumerStage();
    const consumer = consume(() => {});
    await expect(consumer.close({ timeout: "soon" })).rejects.toMatchObject({ code: "invalid-argument" });
    await expect(Reflect.apply(consumer.close, consumer, [{ force: true }])).rejects.toMatchObject({
      code: "invalid-argument",
    });
    expect(consumer.health().state).toBe("running");
    await consumer.close();
  });
});
