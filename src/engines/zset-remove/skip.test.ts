import { expect, it } from "vitest";
import { Skip } from "./skip.js";

it("A claim begins with the first that is due, but somewhere after others had removed more than half of what it wanted.", () => {
  const skip = new Skip(() => 0.7);
  expect(skip.next()).toBe(0);
  skip.lost(50, 100);
  expect(skip.next()).toBe(0);
  skip.lost(51, 100);
  expect(skip.next()).toBe(0.7);
  skip.lost(0, 100);
  expect(skip.next()).toBe(0);
});
