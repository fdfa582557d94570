import { expect, it } from "vitest";
import { exponentialBackoff } from "./exponential.js";
import { fixedBackoff } from "./fixed.js";

const nearlyOne = 1 - Number.EPSILON;

it("doubles its bound from 1 s to 1 h", () => {
  const backoff = exponentialBackoff({ random: () => nearlyOne });
  const attempts = [1, 2, 3, 4, 12, 13, 50, 5_000, 4_294_967_295];
  expect(attempts.map((attempt) => backoff(attempt, undefined))).toEqual([
    1_000, 2_000, 4_000, 8_000, 2_048_000, 3_600_000, 3_600_000, 3_600_000, 3_600_000,
  ]);
});

it("spreads waits over all of the time up to its bound: full jitter", () => {
  const draws = [0, 0.25, 0.5, nearlyOne];
  const backoff = exponentialBackoff({ first: "10s", random: () => draws.shift() ?? 0 });
  expect([1, 1, 1, 1].map((attempt) => backoff(attempt, undefined))).toEqual([0, 2_500, 5_000, 10_000]);
});

it("takes another start and another end", () => {
  const backoff = exponentialBackoff({ first: "250ms", most: "1s", random: () => nearlyOne });
  expect([1, 2, 3, 4].map((attempt) => backoff(attempt, undefined))).toEqual([250, 500, 1_000, 1_000]);
});

it("refuses durations and names that there are not", () => {
  expect(() => exponentialBackoff({ first: "1" })).toThrow(/^first is "1"; accepted/);
  expect(() => Reflect.apply(exponentialBackoff, undefined, [{ max: "1h" }])).toThrow(/no option "max"/);
});

it("waits the same each time when it is fixed", () => {
  const backoff = fixedBackoff("5s");
  expect([backoff(1, undefined), backoff(9, new Error("again"))]).toEqual([5_000, 5_000]);
  expect(() => fixedBackoff(-1)).toThrow(/^delay is -1/);
});
