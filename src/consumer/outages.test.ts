import { expect, it } from "vitest";
import { PunctualError } from "../errors.js";
import { Outages } from "./outages.js";

const silent = new PunctualError("not-sent", "No connection.");
const refused = new PunctualError("misconfigured", "Wrong password.");

it("begins with the first part that is out, and ends when the last is there again", () => {
  const outages = new Outages();
  const [one, other] = [{}, {}];
  expect(outages.isNews(one, silent)).toBe(true);
  expect(outages.isNews(one, silent)).toBe(false);
  expect(outages.isNews(other, silent)).toBe(false);
  expect([outages.ended(one), outages.ended(other)]).toEqual([false, true]);
  expect(outages.isNews(other, silent)).toBe(true);
  expect([outages.ended(other), outages.ended(other)]).toEqual([true, false]);
});

it("is told once more when it turns out that something has to be changed, whichever part finds that", () => {
  const outages = new Outages();
  const [one, other] = [{}, {}];
  const told = () => [one, other, one].map((part) => outages.isNews(part, refused));
  expect(outages.isNews(one, silent)).toBe(true);
  expect(told()).toEqual([true, false, false]);
  expect(outages.isNews(one, silent)).toBe(false);
  expect(told()).toEqual([false, false, false]);
  expect([outages.ended(one), outages.ended(other)]).toEqual([false, true]);
  expect(outages.isNews(other, silent)).toBe(true);
  expect(told()).toEqual([true, false, false]);
});
