import { setTimeout as sleep } from "node:timers/promises";
import { scheduleAll } from "../bulk.js";
import { farOffPayloads } from "../far-off.js";
import type { Case, Scenario } from "../scenario.js";
import { countSentCommands } from "../sent-commands.js";
import { countersOf } from "../server-counters.js";
import { letConsumersSettle } from "../settling.js";

/** How long they are watched, ms: some ask every 5 or 10 seconds. */
const duration = 10_000;

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
    mostRuns: 1,
    async measure({ open, url, connection, scale }) {
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
      try {
        const [before, sentBefore, since] = [await countersOf(connection), sent.count(), performance.now()];
        await sleep(duration * scale);
        const sentUntil = sent.count();
        const after = await countersOf(connection);
        const each = 1_000 / (performance.now() - since) / consumers;
        // The first question counts among what the second finds.
        return { sent: (sentUntil - sentBefore) * each, executed: (after.commands - before.commands - 1) * each };
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
