import { expect, it } from "vitest";
import { machineTime, stepClock } from "./process-clock.js";

const hour = 3_600_000;

it("A clock that is stepped is wrong for all that ask what time it is, and right again when it is stepped back", () => {
  const before = machineTime();
  stepClock(hour);
  const wrong = [Date.now(), new Date().getTime()];
  const given = [new Date(5).getTime(), new Date(2020, 0).getFullYear()];
  stepClock(-hour);
  const after = machineTime();
  for (const time of wrong) {
    expect(time).toBeGreaterThanOrEqual(before + hour);
    expect(time).toBeLessThanOrEqual(after + hour);
  }
  expect(given).toEqual([5, 2020]);
  expect(new Date()).toBeInstanceOf(Date);
  expect(Date.now() - machineTime()).toBeLessThan(1_000);
});
