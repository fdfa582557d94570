import { seededRandom } from "../../demo/seeded-random.js";
import { scheduleAll } from "../bulk.js";
import { randomPayloads } from "../payloads.js";
import type { Kind } from "../subjects.js";
import type { Scenario, Stage } from "../scenario.js";
import { countSentCommands } from "../sent-commands.js";
import { countersOf } from "../server-counters.js";
import { untilDelivered, untilLeft } from "../until-gone.js";

const messages = 4_000;
const kinds: readonly Kind[] = ["punctual", "peer"];
const title = `${messages.toLocaleString("en")} messages, scheduled in bulk, that come due within a second`;

/**
 * Schedules messages in bulk to a consumer that waits for them, and gives what `look` finds when all are gone. Nobody asks before
 * whether they are, which would cost commands as well: a consumer that has closed has acknowledged what it took.
 */
async function afterWholeLives<Looked>({ open }: Stage, count: number, look: () => Promise<Looked>): Promise<Looked> {
  const [producer, consumer] = [await open(), await open()];
  const due = { from: Date.now() + 1_000, spread: 1_000, random: seededRandom(1) };
  await Promise.all([untilDelivered(consumer, count, 100), scheduleAll(producer, randomPayloads(count, due))]);
  await consumer.close();
  const looked = await look();
  await untilLeft(producer, 0);
  return looked;
}

export const cost: Scenario = {
  name: "cost",
  title: "What a message costs the server, from schedule until gone",
  cases: [
    {
      name: "cost",
      title,
      figures: [
        { name: "executed, with those inside scripts", unit: "commands/message", better: "less" },
        { name: "network", unit: "bytes/message", better: "less" },
      ],
      kinds,
      isCold: true,
      async measure(stage) {
        const count = Math.ceil(messages * stage.scale);
        const before = await countersOf(stage.connection);
        const after = await afterWholeLives(stage, count, () => countersOf(stage.connection));
        return {
          "executed, with those inside scripts": (after.commands - before.commands) / count,
          network: (after.network - before.network) / count,
        };
      },
    },
    {
      name: "cost-sent",
      title,
      figures: [{ name: "sent by clients", unit: "commands/message", better: "less" }],
      kinds,
      isCold: true,
      async measure(stage) {
        const count = Math.ceil(messages * stage.scale);
        const sent = await countSentCommands(stage.url);
        try {
          return { "sent by clients": (await afterWholeLives(stage, count, async () => sent.count())) / count };
        } finally {
          sent.close();
        }
      },
    },
  ],
};
