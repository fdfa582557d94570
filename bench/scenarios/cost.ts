import { seededRandom } from "../../demo/seeded-random.js";
import { scheduleAll } from "../bulk.js";
import { randomPayloads } from "../payloads.js";
import type { Kind } from "../subjects.js";
import type { Scenario, Stage } from "../scenario.js";
import { countSentCommands } from "../sent-commands.js";
import { countersOf } from "../server-counters.js";
import { untilGone } from "../until-gone.js";

const messages = 10_000;
const kinds: readonly Kind[] = ["punctual", "peer"];

/** Schedules messages in bulk to a consumer that waits for them, until all are gone. */
async function wholeLives({ open }: Stage, count: number): Promise<void> {
  const [producer, consumer] = [await open(), await open()];
  const due = { from: Date.now() + 1_000, spread: 1_000, random: seededRandom(1) };
  await Promise.all([untilGone(consumer, count, 100), scheduleAll(producer, randomPayloads(count, due))]);
}

export const cost: Scenario = {
  name: "cost",
  title: "What a message costs the server, from schedule until gone",
  cases: [
    {
      name: "cost",
      title: `${messages.toLocaleString("en")} messages, scheduled in bulk, that come due within a second`,
      figures: [
        { name: "executed, with those inside scripts", unit: "commands/message", better: "less" },
        { name: "network", unit: "bytes/message", better: "less" },
      ],
      kinds,
      isCold: true,
      async measure(stage) {
        const count = Math.ceil(messages * stage.scale);
        const before = await countersOf(stage.connection);
        await wholeLives(stage, count);
        const after = await countersOf(stage.connection);
        return {
          "executed, with those inside scripts": (after.commands - before.commands) / count,
          network: (after.network - before.network) / count,
        };
      },
    },
    {
      name: "cost-sent",
      title: `${messages.toLocaleString("en")} messages, scheduled in bulk, that come due within a second`,
      figures: [{ name: "sent by clients", unit: "commands/message", better: "less" }],
      kinds,
      isCold: true,
      async measure(stage) {
        const count = Math.ceil(messages * stage.scale);
        const sent = await countSentCommands(stage.url);
        try {
          await wholeLives(stage, count);
          return { "sent by clients": sent.count() / count };
        } finally {
          sent.close();
        }
      },
    },
  ],
};
