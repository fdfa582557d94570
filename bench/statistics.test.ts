import { describe, expect, it } from "vitest";
import { ratioOf, summaryOf, turnsOf } from "./statistics.js";

describe("A summary of runs", () => {
  it("has the one in the middle, the least and the most, and all of them in their order.", () => {
    expect(summaryOf([30, 9, 200])).toEqual({ median: 30, min: 9, max: 200, runs: [30, 9, 200] });
  });

  it("takes the mean of the two in the middle of an even number.", () => {
    expect(summaryOf([1, 100, 4, 2]).median).toBe(3);
  });

  it("is refused of no runs.", () => {
    expect(() => summaryOf([])).toThrow("There is no median of no runs.");
  });
});

describe("A ratio", () => {
  it("is over 1 when ours is better, where more is better.", () => expect(ratioOf(300, 100, "more")).toBe(3));

  it("is over 1 when ours is better, where less is better.", () => expect(ratioOf(2, 50, "less")).toBe(25));
});

describe("Turns", () => {
  it("let each subject be first, and last, equally often in a multiple of as many runs.", () => {
    const turns = [0, 1, 2, 3, 4, 5].map((run) => turnsOf(["a", "b", "c"], run).join(""));
    expect(turns).toEqual(["abc", "bca", "cab", "abc", "bca", "cab"]);
  });
});
