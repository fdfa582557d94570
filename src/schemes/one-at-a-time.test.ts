import { expect, it } from "vitest";
import { OneAtATime } from "./one-at-a-time.js";

it("Work is done one piece after the other, in the order given, also after a piece that failed.", async () => {
  const turns = new OneAtATime();
  const steps: string[] = [];
  const work = (name: string, fails = false) =>
    turns.run(async () => {
      steps.push(`${name} begins`);
      await new Promise(setImmediate);
      steps.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    });
  const all = await Promise.allSettled([work("a"), work("b", true), work("c")]);
  expect(all.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(steps).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
});
