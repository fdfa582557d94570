import { expect, it } from "vitest";
import { Outages } from "./outages.js";

it("begins with the first part that is out, and ends when the last is there again", () => {
  const outages = new Outages();
  const [one, other] = [{}, {}];
  expect([outages.began(one), outages.began(other), outages.ended(one), outages.ended(other)]).toEqual([
    true,
    false,
    false,
    true,
  ]);
  expect([outages.began(other), outages.ended(other), outages.ended(other)]).toEqual([true, true, false]);
});
