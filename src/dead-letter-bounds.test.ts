import { describe, expect, it } from "vitest";
import { parseDeadLetterBounds } from "./dead-letter-bounds.js";

describe("The bounds of dead letters", () => {
  it("are none by default, and each can be left out", () => {
    expect(parseDeadLetterBounds()).toEqual({ max: undefined, maxAge: undefined });
    expect(parseDeadLetterBounds({ max: 1 })).toEqual({ max: 1, maxAge: undefined });
    expect(parseDeadLetterBounds({ maxAge: "7d", max: undefined })).toEqual({ max: undefined, maxAge: 604_800_000 });
  });

  it.each([
    ["none at all", { max: 0 }],
    ["a number that is not whole", { max: 1.5 }],
    ["an age without a unit", { maxAge: "7" }],
    ["a name that there is not", { maxage: 7 }],
  ])("are refused: %s", (_, options: object) => {
    expect(() => parseDeadLetterBounds(options)).toThrow(expect.objectContaining({ code: "invalid-argument" }));
  });
});
