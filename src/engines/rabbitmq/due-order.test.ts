import { expect, it } from "vitest";
import { manualClock } from "../../testing/manual-clock.js";
import { inDueOrder, Turns } from "./due-order.js";

it("Messages are in order by due time, and those of one due time as they were scheduled, also when the clock steps back", () => {
  let now = 1_000;
  const turns = new Turns({ ...manualClock(), now: () => now });
  const scheduled = ["a", "b", "c", "d", "e"].map((id, index) => {
    if (index === 3) now = 500;
    if (index === 4) now = 2_000;
    return { id, dueAt: id === "b" ? 5 : 7, turn: turns.next() };
  });
  const shuffled = [4, 1, 3, 0, 2].map((index) => scheduled[index]!);
  expect(shuffled.toSorted(inDueOrder).map(({ id }) => id)).toEqual(["b", "a", "c", "d", "e"]);
  expect(scheduled.at(-1)?.turn).toBe(2_000 * 1_024);
});

it("Turns stay numbers that are told apart until the year 2200", () => {
  const turns = new Turns({ ...manualClock(), now: () => Date.UTC(2200, 0) });
  expect(Number.isSafeInteger(turns.next())).toBe(true);
  expect(turns.next() - turns.next()).toBe(-1);
});
