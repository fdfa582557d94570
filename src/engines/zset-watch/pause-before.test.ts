import { expect, it } from "vitest";
import { pauseBefore } from "./pause-before.js";

it("The first failures are followed by another attempt at once, the next by a pause that grows up to 32 ms.", () => {
  const longest = Array.from({ length: 12 }, (_, index) => pauseBefore(index + 1, () => 1));
  expect(longest).toEqual([0, 0, 0, 2, 4, 8, 16, 32, 32, 32, 32, 32]);
});

it("A pause is of any length up to that, so that those that failed together do not come back together.", () => {
  expect([0, 0.25, 0.5].map((random) => pauseBefore(20, () => random))).toEqual([0, 8, 16]);
});
