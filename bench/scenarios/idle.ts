import { setTimeout as sleep } from "node:timers/promises";
import { scheduleAll } from "../bulk.js";
import { farOffPayloads } from "../far-off.js";
import type { Case, Found, Scenario } from "../scenario.js";
import { countSentCommands } from "../sent-commands.js";
import { countersOf } from "../server-counters.js";
import { letConsumersSettle } from "../settling.js";

/**
 * How long a window is, ms, and how long after one the next begins. Subjects ask anew every 5 or 10 seconds, or oftener: in a
 * shorter window whoever asks seldom might not ask at all. Windows overlap, since what comes at such intervals is in each of them.
 */
const duration = 10_000;
const step = 500;

function caseWith(consumers: number): Case {
  return {
    name: `idle-${consumers}`,
    title: `Commands of an idle consumer, of ${consumers}, while messages wait for an hour or two`,
    figures: [
      { name: "sent", unit: "commands/s", better: "less" },
      { name: "executed", unit: "commands/s", better: "less" },
    ],
    kinds: ["punctual", "peer"],
    isCold: true,
    windows: "overlapping",
    async measure({ open, url, connection, scale, windows }) {
      const producer = await open();
      await scheduleAll(producer, farOffPayloads(100));
      await Promise.all(
        Array.from({ length: consumers }, async () => {
          const harness = await open();
          await harness.consume(() => {}, 10);
        }),
      );
      await letConsumersSettle();
      const sent = await countSentCommands(url);
      // Each look asks the server once, which it counts as well.
      let looks = 0;
      const look = async () => {
        const { commands } = await countersOf(connection);
        return { at: performance.now(), executed: commands - looks++, sent: sent.count() };
      };
      const watch = async (window: number): Promise<Found> => {
        await sleep(window * step * scale);
        const before = await look();
        await sleep(duration * scale);
        const after = await look();
        const each = 1_000 / (after.at - before.at) / consumers;
        return { sent: (after.sent - before.sent) * each, executed: (after.executed - before.executed) * each };
      };
      try {
        return await Promise.all(Array.from({ length: windows }, (_, window) => watch(window)));
      } finally {
        sent.close();
      }
    },
  };
}

export const idle: Scenario = {
  name: "idle",
  title: "Idle consumers",
  cases: [caseWith(1), caseWith(10), caseWith(100)],
};
