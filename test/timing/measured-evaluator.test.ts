import { describe, expect, it } from "vitest";
import { slownessOf } from "./measured-evaluator.js";

describe("How much a machine is slowed down", () => {
  it("is 1 where yardsticks hardly differ, and where there is none", () => {
    expect(slownessOf([])).toBe(1);
    expect(slownessOf([0, 0, 0])).toBe(1);
    expect(slownessOf([0, 0, 0.4, 0.4, 0.4])).toBe(1);
    expect(slownessOf([0.4, 0.41, 0.45, 0.5])).toBe(1);
  });

  it("is how much longer most of them take than the quickest tenth", () => {
    expect(slownessOf([0.4, 0.4, ...Array.from({ length: 8 }, () => 0.8)])).toBe(2);
  });

  it("does not follow from a single one that was cut short", () => {
    expect(slownessOf([0.001, ...Array.from({ length: 19 }, () => 0.4)])).toBe(1);
  });

  it("is 3 at most, so that a budget stays one", () => {
    expect(slownessOf([0.1, 0.1, ...Array.from({ length: 8 }, () => 5)])).toBe(3);
  });
});
