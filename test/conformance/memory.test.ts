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
        // Without a connection there is nothing to close.
        bounded: (deadLetters) => memoryEngine({ clock, deadLetters }),
        close: () => engine.close(),
      };
    },
  },
);
