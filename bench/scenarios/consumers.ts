import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "../../demo/seeded-random.js";
import { scheduleAll } from "../bulk.js";
import { startConsumers } from "../consumer-process.js";
import type { Harness } from "../harness.js";
import { randomPayloads } from "../payloads.js";
import type { Case, Found, Scenario, Stage } from "../scenario.js";
import { countSentCommands } from "../sent-commands.js";
import { countersOf } from "../server-counters.js";

/** Messages of a window, and over how long they come due, ms. */
const messages = 1_000;
const spread = 3_000;

/** After how long without news a window is given up, ms. */
const patience = 20_000;

/** How long consumers get to find out that there is nothing to do, ms. */
const settling = 2_000;

async function measureWindow({ url, connection, scale }: Stage, producer: Harness): Promise<Found> {
  const count = Math.ceil(messages * scale);
  const sent = await countSentCommands(url);
  try {
    const before = await countersOf(connection);
    const from = Date.now() + 1_000;
    await scheduleAll(producer, randomPayloads(count, { from, spread: spread * scale, random: seededRandom(1) }));
    // Not asked before: whoever waits for the end costs commands as well.
    await sleep(from + spread * scale - Date.now());
    const giveUpAt = performance.now() + patience;
    while ((await producer.pending()) > 0) {
      if (performance.now() > giveUpAt)
        throw new Error(`Some of ${count} messages were not gone after ${patience} ms.`);
      await sleep(20);
    }
    const after = await countersOf(connection);
    return { sent: sent.count() / count, executed: (after.commands - before.commands) / count };
  } finally {
    sent.close();
  }
}

function caseWith(processes: number): Case {
  return {
    name: `consumers-${processes}`,
    title: `${messages.toLocaleString("en")} messages within 3 seconds, consumers in ${processes === 1 ? "one process" : `${processes} processes`}`,
    figures: [
      { name: "sent", unit: "commands/message", better: "less" },
      { name: "executed", unit: "commands/message", better: "less" },
    ],
    kinds: ["punctual", "peer"],
    isCold: true,
    hasWindows: true,
    async measure(stage) {
      const { open, subject, url, queue } = stage;
      const producer = await open();
      await using _consumers = await startConsumers(processes, {
        subject: subject.name,
        url,
        queue: queue(),
        concurrency: 10,
      });
      await sleep(settling);
      const found: Found[] = [];
      while (found.length < stage.windows) found.push(await measureWindow(stage, producer));
      return found;
    },
  };
}

export const consumers: Scenario = {
  name: "consumers",
  title: "Commands of a message when many processes consume",
  cases: [caseWith(1), caseWith(10), caseWith(50)],
};
