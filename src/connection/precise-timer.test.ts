import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { timerClock } from "../clock.js";
import { runPrecisely } from "./precise-timer.js";

it("never runs before its time, and mostly within half a millisecond of it", async () => {
  const start = performance.now();
  const clock = timerClock(() => performance.now() - start);
  const late = await Promise.all(
    Array.from({ length: 40 }, (_, at) => {
      const time = 15 + at * 3.37;
      return new Promise<number>((resolve) => runPrecisely(clock, time, () => resolve(clock.now() - time)));
    }),
  );
  expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
  // Of the best, since a busy machine wakes nobody in time.
  expect(late.toSorted((one, other) => one - other)[10]).toBeLessThan(0.5);
});

it("runs nothing when it was cancelled, before or in its last part", async () => {
  let now = 0;
  let looks = 0;
  const waits: (() => void)[] = [];
  const clock = {
    ...timerClock(() => (looks++, now)),
    runAfter: (_: number, callback: () => void) => {
      waits.push(callback);
      return () => {};
    },
  };
  let ran = 0;
  const cancels = [20, 20.5].map((time) => runPrecisely(clock, time, () => (ran += 1)));
  cancels[0]?.();
  now = 18;
  for (const wait of waits) wait();
  const before = looks;
  await expect.poll(() => looks).toBeGreaterThan(before);
  cancels[1]?.();
  now = 21;
  await sleep(10);
  expect(ran).toBe(0);
});

it("leaves a clock that stands still to its timers, and does not watch it for ever", async () => {
  let now = 0;
  let looks = 0;
  const asked: number[] = [];
  const clock = {
    ...timerClock(() => (looks++, now)),
    runAt: (time: number, callback: () => void) => {
      asked.push(time);
      if (now >= time) callback();
      return () => {};
    },
  };
  let ran = false;
  runPrecisely(clock, 12.5, () => (ran = true));
  now = 10;
  await expect.poll(() => asked).toEqual([12.5]);
  const before = looks;
  await sleep(20);
  expect([looks, ran]).toEqual([before, false]);
});
