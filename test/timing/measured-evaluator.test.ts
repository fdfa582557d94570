import { describe, expect, it } from "vitest";
import { beyondChance, slownessOf } from "./measured-evaluator.js";

const eight = (ms: number) => Array.from({ length: 8 }, () => ms);

describe("How much a machine is slowed down for a while", () => {
  it("is 1 where yardsticks hardly differ, and where nothing is known", () => {
    expect(slownessOf([], [])).toBe(1);
    expect(slownessOf([0, 0, 0.4, 0.4, 0.4], [0.4])).toBe(1);
    expect(slownessOf([0.4, 0.41, 0.45, 0.5], [0.45, 0.5])).toBe(1);
  });

  it("is how much longer they took then than the quickest tenth", () => {
    expect(slownessOf([0.4, 0.4, ...eight(0.8)], [0.4, 0.8])).toBe(2);
    expect(slownessOf([0.4, 0.4, ...eight(0.8)], [0.4, 0.4])).toBe(1);
  });

  it("does not follow from a single one that was cut short", () => {
    expect(slownessOf([0.001, ...eight(0.4), ...eight(0.4)], [0.4])).toBe(1);
  });

  it("is 3 at most, so that a budget stays one", () => {
    expect(slownessOf([0.1, 0.1, ...eight(5)], [5, 5])).toBe(3);
  });
});

describe("Calls that took longer than their budget", () => {
  const over = (...times: number[]) => times.map((took) => ({ took, limit: 5 }));

  it("are told, but for one in twenty, and none of fewer", () => {
    expect(beyondChance(over(6), 19, 5)).toEqual(over(6));
    expect(beyondChance(over(6, 7), 39, 5)).toEqual(over(6));
    expect(beyondChance(over(6, 7), 40, 5)).toEqual([]);
  });

  it("are told each when they took three times as long", () => {
    expect(beyondChance(over(6, 15.1), 40, 5)).toEqual(over(15.1));
  });
});
