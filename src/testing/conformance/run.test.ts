import { describe, expect, it } from "vitest";
import { memoryEngine } from "../../engines/memory/engine.js";
import type { Engine, EngineQueue } from "../../engine.js";
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
    const broken: ConformanceSubject = {
      ...subject,
      async open() {
        return withQueue(await subject.open(), (queue) => {
          const claim = queue.claim.bind(queue);
          queue.claim = (request) => claim({ ...request, limit: request.limit + 1 });
        });
      },
    };
    await expect(testNamed(registered({}, broken), passing)()).rejects.toThrow("strictly deep-equal");
    await testNamed(registered({ deviations: { [passing]: "it takes one more" } }, broken), passing)();
  });

  it("fails a deviation that the engine passes, and names its reason", async () => {
    const tests = registered({ deviations: { [passing]: "it cannot count" } });
    expect([...tests.keys()]).toContain(`${passing} [deviates: it cannot count]`);
    await expect(testNamed(tests, passing)()).rejects.toThrow("take it off the deviations of memory");
  });

  it("refuses a deviation that names no case", () => {
    expect(() => registered({ deviations: { "No such case": "none" } })).toThrow('"No such case"');
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
