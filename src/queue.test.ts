import { describe, expect, it } from "vitest";
import { Reply, scriptedQueue } from "../test/support/scripted-queue.js";
import { binaryCodec, textCodec } from "./codec.js";
import { memoryEngine } from "./engines/memory/engine.js";
import type { CallOptions, Engine, EngineQueue, NewMessage, ScheduleResult } from "./engine.js";
import { PunctualError } from "./errors.js";
import { Queue } from "./queue.js";
import { manualClock } from "./testing/manual-clock.js";

/** A queue on an engine of which a test gives the operations. */
function scripted(operations: Partial<EngineQueue>): Queue<unknown> {
  const engine: Engine = {
    name: "scripted",
    open: () => scriptedQueue(manualClock(0), operations),
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
  return new Queue("q", { engine });
}

/** A queue whose schedule calls are written down and answered. */
function recording() {
  const calls: { ids: string[]; options: CallOptions | undefined }[] = [];
  const stored: NewMessage[] = [];
  const queue = scripted({
    async schedule(messages, options) {
      calls.push({ ids: messages.map(({ id }) => id), options });
      stored.push(...messages);
      return messages.map(() => ({ outcome: "scheduled" as const, dueAt: 5 }));
    },
  });
  return { queue, calls, stored };
}

const inMemory = () => {
  const clock = manualClock();
  const engine = memoryEngine({ clock });
  return { clock, engine, queue: new Queue<unknown>("q", { engine }) };
};

describe("the name of a queue", () => {
  const engine = memoryEngine();

  it.each([["a"], ["orders"], ["A.b_c:d-9"], ["0".repeat(128)]])("may be %j", (name) => {
    expect(new Queue(name, { engine }).name).toBe(name);
  });

  it.each([[""], ["-a"], [".a"], ["a b"], ["a/b"], ["{a}"], ["ä"], ["a\n"], ["a".repeat(129)], [7], [undefined]])(
    "may not be %j",
    (name) => {
      expect(() => Reflect.construct(Queue, [name, { engine }])).toThrow(
        expect.objectContaining({
          code: "invalid-argument",
          message: expect.stringMatching(/^The name of the queue is /),
        }),
      );
    },
  );

  it.each([
    [undefined, /^options is undefined; accepted is an object/],
    [{}, /^engine is undefined; accepted is an engine, such as redisEngine/],
    [{ engine: {} }, /^engine is an object; accepted is an engine/],
    [{ engine, codec: JSON }, /^codec is an object; accepted is an object with encode and decode/],
    [{ engine, maxPayloadBytes: 0 }, /^maxPayloadBytes is 0; accepted is a whole number from 1/],
    [{ engine, maxPayloadBytes: 1.5 }, /^maxPayloadBytes is 1.5/],
    [{ engine, maxPayload: 5 }, /^options has no option "maxPayload"/],
  ])("comes with options; refused is %o", (options, message) => {
    expect(() => Reflect.construct(Queue, ["q", options])).toThrow(
      expect.objectContaining({ code: "invalid-argument", message: expect.stringMatching(message) }),
    );
  });
});

describe("schedule", () => {
  it("makes one call of the calls of a tick", async () => {
    const { queue, calls } = recording();
    const answers = await Promise.all(["a", "b", "c"].map((id) => queue.schedule(id, { id, delay: 0 })));
    expect(answers).toEqual(["a", "b", "c"].map((id) => ({ id, outcome: "scheduled", dueAt: new Date(5) })));
    expect(calls).toEqual([{ ids: ["a", "b", "c"], options: { timeout: 10_000 } }]);
  });

  it("goes alone when it has a signal or a time-out of its own", async () => {
    const { queue, calls } = recording();
    const { signal } = new AbortController();
    await Promise.all([
      queue.schedule(1, { id: "a", delay: 0 }),
      queue.schedule(1, { id: "b", delay: 0, timeout: "2s" }),
      queue.schedule(1, { id: "c", delay: 0, signal }),
      queue.schedule(1, { id: "d", delay: 0, signal: undefined, timeout: undefined }),
    ]);
    expect(calls).toHaveLength(3);
    expect(calls).toContainEqual({ ids: ["b"], options: { signal: undefined, timeout: 2_000 } });
    expect(calls).toContainEqual({ ids: ["c"], options: { signal, timeout: undefined } });
    expect(calls).toContainEqual({ ids: ["a", "d"], options: { timeout: 10_000 } });
  });

  it("hands on what it is given, and leaves out what it is not", async () => {
    const { queue, stored } = recording();
    const headers = { traceparent: "00-1" };
    const options = { id: "a", onDuplicate: "replace", attempts: 3, expiresIn: "1m", headers } as const;
    await queue.schedule({ n: 1 }, { at: 7, ...options });
    const nothing = {
      id: undefined,
      onDuplicate: undefined,
      attempts: undefined,
      expiresIn: undefined,
      headers: undefined,
    };
    await queue.schedule(null, { delay: "1s", ...nothing });
    expect(stored[0]).toEqual({ ...options, expiresIn: 60_000, due: { at: 7 }, payload: Buffer.from('{"n":1}') });
    expect(stored[1]).toMatchObject({
      due: { delay: 1_000 },
      onDuplicate: "keep",
      attempts: undefined,
      headers: undefined,
    });
    expect(stored[1]?.id).toMatch(/^[\w-]{17}$/);
  });

  it("keeps one bad message from failing its neighbours", async () => {
    const { queue, calls } = recording();
    const outcomes = await Promise.allSettled([
      queue.schedule("a", { id: "a", delay: 0 }),
      queue.schedule("b", { id: "", delay: 0 }),
      queue.schedule(() => {}, { delay: 0 }),
      queue.schedule("c", { id: "c", delay: 0 }),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
    expect(calls.map(({ ids }) => ids)).toEqual([["a", "c"]]);
  });

  it.each([
    [{ delay: 0, onDuplicate: "drop" }, /^onDuplicate is "drop"; accepted is "keep" or "replace"/],
    [{ delay: 0, attempts: 0 }, /^attempts is 0; accepted is a whole number from 1 to 4,294,967,295/],
    [{ delay: 0, attempts: Number.POSITIVE_INFINITY }, /^attempts is Infinity/],
    [{ delay: 0, expiresIn: -1 }, /^expiresIn is -1/],
    [{ delay: 0, timeout: "10" }, /^timeout is "10"/],
    [{ delay: 0, signal: {} }, /^signal is an object; accepted is an AbortSignal/],
    [{ delay: 0, signal: null }, /^signal is null/],
    [{ delay: 0, priority: 1 }, /^options has no option "priority"/],
    [undefined, /^options is undefined/],
  ])("refuses %o and says what is accepted", async (options, message) => {
    const { queue, calls } = recording();
    await expect(Reflect.apply(queue.schedule, queue, ["p", options])).rejects.toMatchObject({
      code: "invalid-argument",
      message: expect.stringMatching(message),
    });
    expect(calls).toEqual([]);
  });

  it("takes payloads up to the limit of the queue in bytes, and none larger", async () => {
    const { engine } = inMemory();
    const bytes = new Queue("q", { engine, codec: binaryCodec() });
    await bytes.schedule(new Uint8Array(1_048_576), { id: "a", delay: 0 });
    expect((await bytes.get("a"))?.payload).toHaveLength(1_048_576);
    await expect(bytes.schedule(new Uint8Array(1_048_577), { delay: 0 })).rejects.toMatchObject({
      code: "payload-too-large",
      details: { bytes: 1_048_577, maxPayloadBytes: 1_048_576 },
    });
    const text = new Queue("q", { engine, codec: textCodec(), maxPayloadBytes: 3 });
    await expect(text.schedule("ßß", { delay: 0 })).rejects.toMatchObject({ code: "payload-too-large" });
    await text.schedule("", { id: "empty", delay: 0 });
    expect((await text.get("empty"))?.payload).toBe("");
  });

  it("says so when a codec throws or gives no bytes", async () => {
    const { engine } = inMemory();
    const fault = new RangeError("too big for me");
    const throwing = {
      encode: (): Uint8Array => {
        throw fault;
      },
      decode: () => 0,
    };
    const wrong = { engine, codec: throwing };
    await expect(new Queue("q", wrong).schedule(1, { delay: 0 })).rejects.toMatchObject({
      code: "invalid-argument",
      cause: fault,
    });
    const textual: Queue<unknown> = Reflect.construct(Queue, [
      "q",
      { engine, codec: { encode: String, decode: String } },
    ]);
    await expect(textual.schedule(1, { delay: 0 })).rejects.toThrow('codec\'s encode is "1"; accepted is a Uint8Array');
  });
});

describe("scheduleMany", () => {
  it("takes any iterable, in its order, and nothing too", async () => {
    const { queue, calls } = recording();
    const generated = (function* () {
      for (const id of ["a", "b"]) yield { payload: id, id, delay: 0 };
    })();
    expect((await queue.scheduleMany(generated)).map(({ id }) => id)).toEqual(["a", "b"]);
    expect(await queue.scheduleMany([])).toEqual([]);
    expect(calls.map(({ ids }) => ids)).toEqual([["a", "b"]]);
  });

  it("checks all before any is stored, and says which one is wrong", async () => {
    const { queue, calls } = recording();
    const messages = [
      { payload: 1, delay: 0 },
      { payload: 2, delay: "5" },
    ];
    await expect(queue.scheduleMany(messages)).rejects.toMatchObject({
      code: "invalid-argument",
      message: expect.stringMatching(/^messages\[1\]: delay is "5"; accepted/),
      details: { argument: "delay", index: 1 },
    });
    for (const wrong of ["text", undefined, { payload: 1, delay: 0 }]) {
      await expect(Reflect.apply(queue.scheduleMany, queue, [wrong])).rejects.toThrow(
        /^messages is .*; accepted is an iterable/,
      );
    }
    expect(calls).toEqual([]);
  });

  it("ends as a whole: with the shortest time-out and any of the signals", async () => {
    const { queue, calls } = recording();
    const one = new AbortController();
    const other = new AbortController();
    await queue.scheduleMany([
      { payload: 1, delay: 0, timeout: "5s", signal: one.signal },
      { payload: 2, delay: 0, timeout: "2s", signal: other.signal },
      { payload: 3, delay: 0, timeout: "3s" },
      { payload: 4, delay: 0 },
    ]);
    expect(calls[0]?.options).toMatchObject({ timeout: 2_000, signal: { aborted: false } });
    other.abort();
    expect(calls[0]?.options?.signal?.aborted).toBe(true);
  });

  it("says what is stored when it fails half-way", async () => {
    const results: (ScheduleResult | undefined)[] = [{ outcome: "scheduled", dueAt: 5 }, undefined];
    const queue = scripted({
      schedule: () => Promise.reject(new PunctualError("outcome-unknown", "No reply.", { details: { results } })),
    });
    const messages = ["a", "b"].map((id) => ({ payload: id, id, delay: 0 }));
    await expect(queue.scheduleMany(messages)).rejects.toMatchObject({
      code: "outcome-unknown",
      message: "No reply.",
      details: { results: [{ id: "a", outcome: "scheduled", dueAt: new Date(5) }, undefined] },
    });
  });
});

describe("cancel and reschedule", () => {
  it("say what became of the message", async () => {
    const { queue } = inMemory();
    await queue.schedule(1, { id: "a", delay: "1h" });
    expect(await queue.reschedule("a", { delay: "2h" })).toBe("rescheduled");
    expect(await queue.cancel("a")).toBe("cancelled");
    expect(await queue.cancel("a")).toBe("absent");
    expect(await queue.reschedule("a", { at: new Date() })).toBe("absent");
  });

  it("fail with outcome-unknown when it cannot be known", async () => {
    const queue = scripted({
      cancel: async (ids) => ids.map((id) => (id === "known" ? "cancelled" : "outcome-unknown")),
      reschedule: async () => ["outcome-unknown"],
    });
    await expect(queue.cancel("a")).rejects.toMatchObject({ code: "outcome-unknown", details: { id: "a" } });
    await expect(queue.reschedule("a", { delay: 0 })).rejects.toMatchObject({ code: "outcome-unknown" });
    await expect(queue.cancelMany(["known", "a"])).rejects.toMatchObject({
      code: "outcome-unknown",
      details: { results: ["cancelled", undefined] },
    });
  });

  it("say what is known of many when the call fails half-way", async () => {
    const results = ["cancelled", "outcome-unknown", undefined];
    const queue = scripted({
      cancel: () => Promise.reject(new PunctualError("not-sent", "Down.", { details: { results } })),
    });
    await expect(queue.cancelMany(["a", "b", "c"])).rejects.toMatchObject({
      code: "not-sent",
      details: { results: ["cancelled", undefined, undefined] },
    });
  });

  it("refuse what is no id, no list of ids and no due time before anything is sent", async () => {
    const queue = scripted({});
    const refused = { code: "invalid-argument" };
    await expect(queue.cancel("")).rejects.toMatchObject(refused);
    await expect(queue.cancelMany("abc")).rejects.toMatchObject(refused);
    await expect(queue.cancelMany(["a", "\ud800"])).rejects.toMatchObject(refused);
    await expect(queue.get("")).rejects.toMatchObject(refused);
    await expect(Reflect.apply(queue.reschedule, queue, ["a", {}])).rejects.toMatchObject(refused);
    await expect(Reflect.apply(queue.reschedule, queue, ["a", { delay: 0, id: "b" }])).rejects.toMatchObject(refused);
    expect(await queue.cancelMany([])).toEqual([]);
  });
});

describe("get", () => {
  it("reads a message as it was scheduled", async () => {
    const { clock, queue } = inMemory();
    const at = new Date(clock.now() + 5_000);
    await queue.schedule({ n: [] }, { id: "a", at, headers: { k: "v" } });
    expect(await queue.get("a")).toEqual({
      id: "a",
      state: "scheduled",
      payload: { n: [] },
      dueAt: at,
      attempt: 0,
      headers: { k: "v" },
    });
    expect(await queue.get("b")).toBeUndefined();
  });

  it("makes one call of the calls of a tick", async () => {
    const calls: string[][] = [];
    const queue = scripted({
      async get(ids) {
        calls.push([...ids]);
        return ids.map(() => undefined);
      },
    });
    expect(await Promise.all([queue.get("a"), queue.get("b")])).toEqual([undefined, undefined]);
    expect(calls).toEqual([["a", "b"]]);
  });
});

it("counts, pauses and resumes", async () => {
  const { queue } = inMemory();
  await queue.schedule(1, { delay: 0 });
  await queue.schedule(1, { delay: "1h" });
  await queue.pause();
  expect(await queue.counts()).toEqual({ scheduled: 1, due: 1, leased: 0, dead: 0, paused: true });
  await queue.resume();
  expect((await queue.counts()).paused).toBe(false);
});

it("keeps the order of calls whose batches overlap", async () => {
  const replies: Reply<ScheduleResult[]>[] = [];
  const order: string[] = [];
  const queue = scripted({
    schedule(messages) {
      order.push(...messages.map(({ id }) => id));
      const reply = new Reply<ScheduleResult[]>();
      replies.push(reply);
      return reply.promise;
    },
  });
  const ids = Array.from({ length: 3_500 }, (_, index) => `${index}`);
  const all = Promise.all(ids.map((id) => queue.schedule(id, { id, delay: 0 })));
  for (let answered = 0, at = 0; answered < 4; answered++) {
    while (replies[answered] === undefined) await Promise.resolve();
    const size = Math.min(1_000, ids.length - at);
    at += size;
    replies[answered]?.give(Array.from({ length: size }, () => ({ outcome: "scheduled", dueAt: 0 })));
  }
  expect((await all).map(({ id }) => id)).toEqual(ids);
  expect(order).toEqual(ids);
});

it("refuses to consume on an engine that was closed, and every call of a queue on it fails", async () => {
  const { engine, queue } = inMemory();
  await engine.close();
  const made = new Queue<unknown>("q", { engine });
  for (const one of [queue, made]) {
    expect(() => one.consume(() => {})).toThrow(expect.objectContaining({ code: "closed" }));
    await expect(one.schedule("a", { delay: 0 })).rejects.toMatchObject({ code: "closed" });
    await expect(one.deliveries()[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "closed" });
    await expect(one.receive()).rejects.toMatchObject({ code: "closed" });
  }
});

it("gives an engine what is left of the 10 s of a schedule, also of one that had to wait", async () => {
  const clock = manualClock(0);
  const timeouts: unknown[] = [];
  const store = scriptedQueue(clock, {
    schedule: (_, options) => {
      timeouts.push(options?.timeout);
      return new Promise(() => {});
    },
  });
  const unused = async () => {};
  const engine = { name: "silent", open: () => store, close: unused, [Symbol.asyncDispose]: unused };
  const queue = new Queue<number>("q", { engine });
  for (let message = 0; message < 3_000; message++) void queue.schedule(message, { delay: 0 });
  await clock.advance("5s");
  expect(timeouts).toEqual([10_000, 9_000, 8_000]);
});
