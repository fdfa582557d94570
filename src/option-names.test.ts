import { expect, it } from "vitest";
import { checkOptionNames } from "./option-names.js";

const known = new Set(["delay", "at", "attempts"]);

it("takes known names, and unknown ones that are undefined", () => {
  expect(() => checkOptionNames({ delay: 1, at: undefined, later: undefined }, known, "options")).not.toThrow();
});

it.each([
  ["dealy", 'options has no option "dealy". Did you mean "delay"? There are: delay, at, attempts.'],
  ["Attempt", 'options has no option "Attempt". Did you mean "attempts"? There are: delay, at, attempts.'],
  // Near to "at", but half of it is another.
  ["it", 'options has no option "it". There are: delay, at, attempts.'],
  ["in", 'options has no option "in". Did you mean "delay"? There are: delay, at, attempts.'],
  ["maxAttempts", 'options has no option "maxAttempts". Did you mean "attempts"? There are: delay, at, attempts.'],
  ["jobId", 'options has no option "jobId". There are: delay, at, attempts.'],
  ["toString", 'options has no option "toString". There are: delay, at, attempts.'],
  ["priority", 'options has no option "priority". There are: delay, at, attempts.'],
])("refuses %s and says what was meant", (name, message) => {
  expect(() => checkOptionNames({ [name]: 1 }, known, "options")).toThrow(
    expect.objectContaining({ code: "invalid-argument", message, details: { argument: "options", option: name } }),
  );
});

it.each([[undefined], [null], ["5m"], [5], [[]]])("refuses %j, which is no object", (options) => {
  expect(() => checkOptionNames(options, known, "options")).toThrow(/^options is .*; accepted is an object\.$/);
});
