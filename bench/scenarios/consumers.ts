import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "../../demo/seeded-random.js";
import { scheduleAll } from "../bulk.js";
import { startConsumers } from "../consumer-process.js";
import type { Harness } from "../harness.js";
import { assertNotYetDue } from "../not-yet-due.js";
import { randomPayloads } from "../payloads.js";
import type { Case, Found, Scenario, Stage } from "../scenario.js";
import { countSentCommands } from "../sent-commands.js";
import { countersOf } from "../server-counters.js";
import { letConsumersSettle } from "../settling.js";
import { until } from "../until.js";

/** Messages of a window, and over how long they come due, ms. */
const messages = 500;
const spread = 1_000;

/** After how long without news a window is given up, ms. */
const patience = 20_000;

/** How often it asks whether all are gone, ms. */
const interval = 20;

async function measureWindow({ url, connection, scale }: Stage, producer: Harness): Promise<Found> {
  const count = Math.ceil(messages * scale);
  const sent = await countSentCommands(url);
  try {
    const before = await countersOf(connection);
    const from = Date.now() + 1_000;
    await scheduleAll(producer, randomPayloads(count, { from, spread: spread * scale, random: seededRandom(1) }));
    assertNotYetDue("All were scheduled", from);
    // Not asked before: whoever waits for the end costs commands as well.
    await sleep(from + spread * scale - Date.now());
    let [left, asked] = [count, 0];
    const areGone = async () => {
      asked += 1;
      left = await producer.pending();
      return left === 0;
    };
    await until(areGone, {
      every: interval,
      patience,
      otherwise: () => `${left} of ${count} messages were not gone ${patience} ms after the last came due.`,
    });
    const [after, sentUntil] = [await countersOf(connection), sent.count()];
    // What the questions cost is found by asking as many more, and taken off: it is not the messages'. The consumers, who have
    // nothing to do now, hardly add to it in so short a time.
    for (let more = 0; more < asked; more += 1) await producer.pending();
    const [last, sentAtLast] = [await countersOf(connection), sent.count()];
    return {
      sent: (2 * sentUntil - sentAtLast) / count,
      executed: (2 * after.commands - before.commands - last.commands) / count,
    };
  } finally {
    sent.close();
  }
}

function caseWith(processes: number): Case {
  return {
    name: `consumers-${processes}`,
    title: `${messages} messages within a second, consumers in ${processes === 1 ? "one process" : `${processes} processes`}`,
    figures: [
      { name: "sent", unit: "commands/message", better: "less" },
      { name: "executed", unit: "commands/message", better: "less" },
    ],
    kinds: ["punctual", "peer"],
    isCold: true,
    windows: "in turn",
    async measure(stage) {
      const { open, subject, url, queue } = stage;
      const producer = await open();
      await using _consumers = await startConsumers(processes, {
        subject: subject.name,
        url,
        queue: queue(),
        concurrency: 10,
      });
      await letConsumersSettle();
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
