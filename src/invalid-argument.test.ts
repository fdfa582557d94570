import { expect, it } from "vitest";
import { PunctualError } from "./errors.js";
import { invalidArgument, invalidValue } from "./invalid-argument.js";

it("An argument that is refused says what is wrong and what is accepted, with its name for programs", () => {
  const error = invalidArgument("when", "there is neither delay nor at", "one of them");
  expect(error).toBeInstanceOf(PunctualError);
  expect(error).toMatchObject({
    code: "invalid-argument",
    message: "there is neither delay nor at; accepted is one of them.",
    details: { argument: "when" },
  });
});

it("One that is part of another is named beside it", () => {
  const error = invalidArgument("durability", "durability.fsync is 1", "true or false", { option: "fsync" });
  expect(error.details).toEqual({ argument: "durability", option: "fsync" });
});

it("A value that is refused is shown as a program would write it", () => {
  const error = invalidValue("delay", "1500", "a duration");
  expect(error.message).toBe('delay is "1500"; accepted is a duration.');
  expect(error.details).toEqual({ argument: "delay" });
});
