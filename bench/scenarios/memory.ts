import { setTimeout as sleep } from "node:timers/promises";
import type { Connection } from "../../src/clients/port.js";
import { scheduleFarOff } from "../far-off.js";
import { usualSize } from "../payloads.js";
import type { Case, Scenario } from "../scenario.js";
import { countersOf } from "../server-counters.js";

/** By how little the memory of a server that does nothing still changes, bytes, from one look to the next, ms. */
const still = 16_384;
const interval = 250;

/** The memory in use when the server has moved its hash tables, which it does when it has time. */
async function settledMemory(connection: Connection): Promise<number> {
  let last = Infinity;
  for (;;) {
    const { memory } = await countersOf(connection);
    if (Math.abs(memory - last) < still) return memory;
    last = memory;
    await sleep(interval);
  }
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
  // As many as an earlier figure of the peers was taken at; of large ones fewer, since the share of the payload only grows.
  cases: [caseOf(usualSize, 393_216), caseOf(1_024, 65_536), caseOf(10_240, 16_384)],
};
