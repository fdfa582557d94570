import { describe, it } from "vitest";
import { memoryEngine } from "../../src/engines/memory/engine.js";
import { movedTime, runConformance } from "../../src/testing/conformance/index.js";
import { manualClock } from "../../src/testing/manual-clock.js";

let queues = 0;

runConformance(
  { describe, it },
  {
    name: "memory",
    async open() {
      const clock = manualClock();
      const engine = memoryEngine({ clock });
      return {
        engine,
        // The store lives in the process, so another process has another store.
        other: engine,
        ...movedTime(clock),
        queueName: () => `conformance-${++queues}`,
        async disturb() {},
        close: () => engine.close(),
      };
    },
  },
  {
    deviations: {
      "Bounded redelivery: what a killed process held with a lease of 1 s is delivered by an idle one within 2 s":
        "all consumers of a store in memory live in one process, so none is ever killed alone",
    },
  },
);
