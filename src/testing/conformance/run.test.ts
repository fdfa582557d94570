import { AssertionError } from "node:assert";
import { describe, expect, it } from "vitest";
import { memoryEngine } from "../../engines/memory/engine.js";
import type { Engine, EngineQueue } from "../../engine.js";
import { PunctualError } from "../../errors.js";
import { manualClock } from "../manual-clock.js";
import { conformanceCases } from "./cases.js";
import type { ConformanceHarness, ConformanceSubject } from "./conformance-case.js";
import { movedTime } from "./passing-time.js";
import { type ConformanceOptions, runConformance } from "./run.js";

const subject: ConformanceSubject = {
  name: "memory",
  async open() {
    const clock = manualClock();
    const engine = memoryEngine({ clock });
    return {
      engine,
      other: engine,
      ...movedTime(clock),
      bounded: (deadLetters) => memoryEngine({ clock, deadLetters }),
      queueName: () => "q",
      async disturb() {},
      close: () => engine.close(),
    };
  },
};

/** The same harness, with an engine whose queues were changed. */
function withQueue(harness: ConformanceHarness, change: (queue: EngineQueue) => void): ConformanceHarness {
  const { engine } = harness;
  const changed: Engine = {
    ...engine,
    open(name, options) {
      const queue = engine.open(name, options);
      change(queue);
      return queue;
    },
  };
  return { ...harness, engine: changed };
}

/** The engine that conforms, with queues that were changed. */
function changed(change: (queue: EngineQueue) => void): ConformanceSubject {
  return { ...subject, open: async () => withQueue(await subject.open(), change) };
}

const passing = "A claim with limit 0 takes nothing, and one with a limit takes no more than that";

/** The tests that a runner is given, by name. */
function registered(options: ConformanceOptions, of: ConformanceSubject = subject): Map<string, () => Promise<void>> {
  const tests = new Map<string, () => Promise<void>>();
  const runner = {
    describe: (_: string, register: () => void) => register(),
    it: (name: string, run: () => Promise<void>) => tests.set(name, run),
  };
  runConformance(runner, of, options);
  return tests;
}

function testNamed(tests: Map<string, () => Promise<void>>, start: string): () => Promise<void> {
  const [, run] = [...tests].find(([name]) => name.startsWith(start)) ?? [];
  if (run === undefined) throw new Error(`no test begins with ${start}`);
  return run;
}

describe("runConformance", () => {
  it("registers every case as a test, which passes on an engine that conforms", async () => {
    const tests = registered({});
    expect([...tests.keys()].toSorted()).toEqual(conformanceCases.map((one) => one.name).toSorted());
    await testNamed(tests, passing)();
  });

  it("fails a case that the engine does not pass", async () => {
    const broken = changed((queue) => {
      const claim = queue.claim.bind(queue);
      queue.claim = (request) => claim({ ...request, limit: request.limit + 1 });
    });
    await expect(testNamed(registered({}, broken), passing)()).rejects.toThrow("strictly deep-equal");
    const deviations: ConformanceOptions["deviations"] = {
      [passing]: { kind: "differs", because: "it takes one more" },
    };
    await testNamed(registered({ deviations }, broken), passing)();
  });

  it("fails a deviation that the engine passes, and names its kind and reason", async () => {
    for (const kind of ["differs", "refuses"] as const) {
      const tests = registered({ deviations: { [passing]: { kind, because: "it cannot count" } } });
      expect([...tests.keys()]).toContain(`${passing} [${kind}: it cannot count]`);
      await expect(testNamed(tests, passing)()).rejects.toThrow("take it off the deviations of memory");
    }
  });

  const refusal = new PunctualError("unsupported", "It cannot claim.");
  const circular = new Error("round");
  circular.cause = circular;
  it.each([
    ["a refusal", "refuses", refusal],
    [
      "a failure that a refusal caused",
      "refuses",
      new Error("no reply", { cause: new Error("in vain", { cause: refusal }) }),
    ],
    ["several failures, of which one is a refusal", "refuses", new AggregateError([new Error("other"), refusal])],
    ["a refusal where another error was asserted", "refuses", new AssertionError({ message: "code", actual: refusal })],
    ["an assertion", "differs", new AssertionError({ message: "1 is not 2" })],
    ["another refusal", "neither", new PunctualError("closed", "The engine is closed.")],
    ["a fault of the engine", "neither", new TypeError("x is not a function")],
    ["an error that is its own cause", "neither", circular],
  ] as const)("takes %s for a deviation of kind: %s", async (_, shown, failure) => {
    const failing = changed((queue) => {
      queue.claim = async () => {
        throw failure;
      };
    });
    for (const kind of ["differs", "refuses"] as const) {
      const deviations = { [passing]: { kind, because: "it cannot claim" } };
      const run = testNamed(registered({ deviations }, failing), passing)();
      const answer = await run.then(
        () => "passes",
        (error: unknown) => String(error),
      );
      expect(answer).toContain(kind === shown ? "passes" : `of kind "${kind}", but its failure`);
    }
  });

  it("takes a case that hangs for no deviation of any kind", async () => {
    const hanging = changed((queue) => {
      queue.claim = () => new Promise(() => {});
    });
    for (const kind of ["differs", "refuses"] as const) {
      const deviations = { [passing]: { kind, because: "it is slow" } };
      const run = testNamed(registered({ deviations, timeout: 20 }, hanging), passing)();
      await expect(run).rejects.toThrow("not done after 20 ms");
    }
  });

  it("refuses a deviation that names no case", () => {
    const deviations: ConformanceOptions["deviations"] = { "No such case": { kind: "differs", because: "none" } };
    expect(() => registered({ deviations })).toThrow('"No such case"');
  });

  it("ends a case that takes too long, and closes its engine all the same", async () => {
    let closed = false;
    const hanging: ConformanceSubject = {
      ...subject,
      async open() {
        const harness = withQueue(await subject.open(), (queue) => {
          queue.schedule = () => new Promise(() => {});
        });
        return { ...harness, close: async () => void (closed = true) };
      },
    };
    await expect(testNamed(registered({ timeout: 20 }, hanging), passing)()).rejects.toThrow("not done after 20 ms");
    expect(closed).toBe(true);
  });
});
