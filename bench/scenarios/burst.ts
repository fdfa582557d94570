import { measureLateness } from "../measure-lateness.js";
import type { Scenario } from "../scenario.js";

const messages = 10_000;

export const burst: Scenario = {
  name: "burst",
  title: "Many messages that are due in one ms",
  cases: [
    {
      name: "burst",
      title: `${messages.toLocaleString("en")} messages that are due in one ms, until the last has started`,
      figures: [
        { name: "last", unit: "ms", better: "less" },
        { name: "early", unit: "messages", better: "less" },
      ],
      kinds: ["punctual", "peer"],
      async measure(stage) {
        const load = { messages: Math.ceil(messages * stage.scale), spread: 0, concurrency: 1_000 };
        const late = await measureLateness(stage, load);
        return { last: late.max, early: late.countBetween(-Infinity, 0) };
      },
    },
  ],
};
