import { describe, expect, it } from "vitest";
import { demoScenario } from "../../demo/scenario.js";
import { type Progress, runWorkload } from "../../demo/workload.js";
import type { EngineQueue } from "../../src/engine.js";
import { memoryEngine } from "../../src/engines/memory/engine.js";

const scenario = {
  ...demoScenario,
  messages: 400,
  lead: 100,
  spread: 200,
  failOneIn: 20,
  cancelOneIn: 10,
  lease: 1_000,
};

/** Runs the workload on a memory engine of which some operations are done otherwise. */
async function run(
  flaw: (queue: EngineQueue) => Partial<EngineQueue> = () => ({}),
  onProgress?: (p: Progress) => void,
  lead = scenario.lead,
) {
  await using engine = memoryEngine();
  const { clock } = engine.open("demo");
  const flawed = {
    name: "flawed",
    open(name: string): EngineQueue {
      const queue = engine.open(name);
      const changes = flaw(queue);
      return new Proxy(queue, {
        get(target, property) {
          const value: unknown = Reflect.get(property in changes ? changes : target, property);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    },
    close: () => engine.close(),
    [Symbol.asyncDispose]: () => engine.close(),
  };
  return await runWorkload({
    engine: flawed,
    queue: "demo",
    scenario: { ...scenario, lead },
    now: () => clock.now(),
    patience: 0,
    onProgress,
  });
}

describe("The workload", () => {
  it("accounts for every message on an engine that keeps its promises.", async () => {
    const progress: Progress[] = [];
    // Time enough to schedule all before the first is to be cancelled, also on a busy machine.
    const figures = await run(undefined, (step) => progress.push(step), 2_000);
    expect(figures).toMatchObject({ scheduled: 400, lost: 0, duplicated: 0, early: 0 });
    expect(figures.delivered + figures.cancelled).toBe(400);
    expect(figures.cancelled).toBeGreaterThan(20);
    expect(figures.retried).toBeGreaterThan(5);
    expect(figures.lateness.count).toBe(figures.delivered + figures.retried);
    expect(progress.at(-1)).toEqual({ messages: 400, scheduled: 400, ended: 400 });
  });

  it("finds what an engine loses.", async () => {
    const figures = await run((queue) => ({
      async schedule(messages, options) {
        const results = await queue.schedule(
          messages.filter(({ id }) => id !== "7"),
          options,
        );
        return messages.map((_, index) => results[index] ?? { outcome: "scheduled", dueAt: 0 });
      },
    }));
    expect(figures).toMatchObject({ scheduled: 400, lost: 1, duplicated: 0, early: 0 });
  });

  it("finds what an engine delivers twice.", async () => {
    const figures = await run((queue) => ({
      async claim(request) {
        const result = await queue.claim(request);
        const again = result.messages.filter(({ id }) => id === "7");
        return { ...result, messages: [...result.messages, ...again] };
      },
    }));
    expect(figures).toMatchObject({ lost: 0, duplicated: 1, early: 0 });
  });

  it("finds what an engine keeps although it was acknowledged.", async () => {
    const figures = await run((queue) => ({
      async acknowledge(receipts) {
        await queue.acknowledge(receipts.filter(({ id }) => id !== "7"));
        return receipts.map(() => "settled");
      },
    }));
    expect(figures).toMatchObject({ lost: 0, duplicated: 1, early: 0 });
  });

  it("finds what an engine delivers although it said cancelled.", async () => {
    const figures = await run(() => ({ cancel: async (ids) => ids.map(() => "cancelled") }));
    expect(figures.cancelled).toBeGreaterThan(20);
    expect(figures).toMatchObject({ scheduled: 400, delivered: 400, lost: 0, duplicated: figures.cancelled });
  });

  it("finds what an engine delivers early, also when it tells another due time.", async () => {
    const figures = await run((queue) => ({
      schedule: (messages, options) =>
        queue.schedule(
          messages.map((message) =>
            message.id === "7" && "at" in message.due ? { ...message, due: { at: message.due.at - 50 } } : message,
          ),
          options,
        ),
    }));
    expect(figures).toMatchObject({ lost: 0, duplicated: 0, early: 1 });
  });

  it("ends with the error of a call that fails.", async () => {
    const failure = new Error("no room");
    await expect(run(() => ({ schedule: () => Promise.reject(failure) }))).rejects.toBe(failure);
  });

  it("ends when it is told to, with the reason of the signal, and delivers nothing afterwards.", async () => {
    await using engine = memoryEngine();
    const queue = engine.open("demo");
    const interruption = new AbortController();
    const reason = new Error("interrupted");
    const running = runWorkload({
      engine,
      queue: "demo",
      scenario,
      now: () => queue.clock.now(),
      signal: interruption.signal,
      onProgress: ({ ended }) => ended > 50 && interruption.abort(reason),
    });
    await expect(running).rejects.toBe(reason);
    expect((await queue.counts()).leased).toBe(0);
  });
});
