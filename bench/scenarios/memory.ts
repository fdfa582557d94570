import type { Connection } from "../../src/clients/port.js";
import { scheduleFarOff } from "../far-off.js";
import { usualSize } from "../payloads.js";
import type { Case, Scenario } from "../scenario.js";
import { countersOf } from "../server-counters.js";
import { until } from "../until.js";

/** By how little the memory of a server that does nothing still changes, bytes, from one look to the next, ms. */
const still = 16_384;
const interval = 100;

/** After how long a server that does not come to rest is given up, ms. */
const patience = 30_000;

/** The memory in use when the server has moved its hash tables, which it does when it has time. */
async function settledMemory(connection: Connection): Promise<number> {
  let [last, change] = [Infinity, Infinity];
  const isStill = async () => {
    const { memory: now } = await countersOf(connection);
    [last, change] = [now, Math.abs(now - last)];
    return change < still;
  };
  await until(isStill, {
    every: interval,
    patience,
    otherwise: () =>
      `The memory of the server still changed by ${change} bytes in ${interval} ms after ${patience} ms.`,
  });
  return last;
}

function caseOf(size: number, messages: number): Case {
  return {
    name: `memory-${size}`,
    title: `Memory of a pending message with ${size.toLocaleString("en")} bytes of payload, of ${messages.toLocaleString("en")}`,
    figures: [{ name: "memory", unit: "bytes/message", better: "less" }],
    kinds: ["punctual", "peer", "limit"],
    isCold: true,
    async measure({ open, connection, scale }) {
      const harness = await open();
      const count = Math.ceil(messages * scale);
      const before = await settledMemory(connection);
      await scheduleFarOff(harness, count, size);
      return { memory: ((await settledMemory(connection)) - before) / count };
    },
  };
}

export const memory: Scenario = {
  name: "memory",
  title: "Memory of a pending message",
  // One and a half times a power of two: between the numbers at which a hash table doubles, where it takes most and least a message.
  cases: [caseOf(usualSize, 24_576), caseOf(1_024, 12_288), caseOf(10_240, 3_072)],
};
