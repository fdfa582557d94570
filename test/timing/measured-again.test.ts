import { expect, it } from "vitest";
import { overBudget } from "./measured-again.js";
import type { Overrun } from "./measured-evaluator.js";

const chance = (name: string): Overrun => ({ name, took: 6, limit: 5, isCertain: false });
const certain = (name: string): Overrun => ({ ...chance(name), isCertain: true });

/** The names of what exceeds its budget when each round measures this, and how many rounds there were. */
async function judged(...rounds: Overrun[][]): Promise<{ names: string[]; measured: number }> {
  let measured = 0;
  const told = await overBudget(async () => rounds[measured++] ?? []);
  return { names: [...new Set(told.map((text) => text.replace(/:.*/, "")))], measured };
}

it("What keeps within its budget is measured once", async () => {
  expect(await judged([])).toEqual({ names: [], measured: 1 });
});

it("What no chance explains exceeds it at once", async () => {
  expect(await judged([certain("claim")])).toEqual({ names: ["claim"], measured: 1 });
});

it("A script that may have met a chance exceeds it when it does so three times of three", async () => {
  const pause = [chance("pause")];
  expect(await judged(pause, [])).toEqual({ names: [], measured: 2 });
  expect(await judged(pause, pause, [])).toEqual({ names: [], measured: 3 });
  expect(await judged(pause, pause, pause, pause)).toEqual({ names: ["pause"], measured: 3 });
});

it("A script that kept within it once is not judged by the rounds that another one needs", async () => {
  expect(await judged([chance("pause")], [chance("resume"), certain("claim")])).toEqual({ names: [], measured: 2 });
});
