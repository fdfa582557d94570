import { measureLateness } from "../measure-lateness.js";
import type { Case, Figure, Scenario } from "../scenario.js";

const figures: readonly Figure[] = [
  { name: "p50", unit: "ms", better: "less" },
  { name: "p99", unit: "ms", better: "less" },
  { name: "max", unit: "ms", better: "less" },
  { name: "early", unit: "messages", better: "less" },
];

function caseOf(
  one: Pick<Case, "name" | "title" | "kinds"> & { readonly messages: number; readonly seconds: number },
): Case {
  const { messages, seconds, ...rest } = one;
  return {
    ...rest,
    figures,
    leastPace: messages / seconds,
    async measure(stage) {
      const late = await measureLateness(stage, {
        messages: Math.ceil(messages * stage.scale),
        spread: 1_000 * seconds * stage.scale,
        concurrency: 100,
      });
      return {
        p50: late.percentile(50),
        p99: late.percentile(99),
        max: late.max,
        early: late.countBetween(-Infinity, 0),
      };
    },
  };
}

const quiet = (messages: number) =>
  caseOf({
    name: `lateness-${messages}`,
    title: `Lateness on a quiet server, ${messages.toLocaleString("en")} messages in 10 seconds`,
    kinds: ["punctual", "peer"],
    messages,
    seconds: 10,
  });

const busy = (perSecond: number, seconds = 2) =>
  caseOf({
    name: `lateness-at-${perSecond}`,
    title: `Lateness at ${perSecond.toLocaleString("en")} messages a second`,
    kinds: ["punctual", "peer"],
    messages: perSecond * seconds,
    seconds,
  });

export const lateness: Scenario = {
  name: "lateness",
  title: "Start of the handler minus due time",
  cases: [quiet(300), quiet(3_000), busy(1_000), busy(10_000)],
};
