import { expect, it } from "vitest";
import { overBudget } from "./measured-again.js";

/** The names of what exceeds its budget when each round measures these, and how many rounds there were. */
async function judged(...rounds: string[][]): Promise<{ names: string[]; measured: number }> {
  let measured = 0;
  const told = await overBudget(async () => (rounds[measured++] ?? []).map((name) => ({ name, took: 6, limit: 5 })));
  return { names: [...new Set(told.map((text) => text.replace(/:.*/, "")))], measured };
}

it("What keeps within its budget is measured once", async () => {
  expect(await judged([])).toEqual({ names: [], measured: 1 });
});

it("A script exceeds its budget when it does so three times of three", async () => {
  expect(await judged(["pause"], [])).toEqual({ names: [], measured: 2 });
  expect(await judged(["pause"], ["pause"], [])).toEqual({ names: [], measured: 3 });
  expect(await judged(["pause"], ["pause"], ["pause"], ["pause"])).toEqual({ names: ["pause"], measured: 3 });
});

it("A script that kept within it once is not judged by the rounds that another one needs", async () => {
  expect(await judged(["pause"], ["claim"])).toEqual({ names: [], measured: 2 });
});
