import { describe, expect, it } from "vitest";
import { asArray, asBytes, asNumber, asRows, asText, asWord } from "./reply.js";

const bytes = Buffer.from;

describe("A reply of the expected shape is read", () => {
  it("as array, bytes, text, number, word and rows", () => {
    expect(asArray([1], "s")).toEqual([1]);
    expect(asBytes(bytes([0, 255]), "s")).toEqual(bytes([0, 255]));
    expect(asText(bytes("é"), "s")).toBe("é");
    expect(asNumber(7, "s")).toBe(7);
    expect(asNumber(bytes("1764528126000.123"), "s")).toBe(1764528126000.123);
    expect(asWord(bytes("b"), ["a", "b"], "s")).toBe("b");
    expect(asRows([1, 2, 3, 4], 2, "s")).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });
});

describe("A reply of another shape leaves the outcome unknown, and the sentence says which", () => {
  it.each([
    ["an array", () => asArray(bytes("x"), "claim: taken")],
    ["bytes", () => asBytes(1, "claim: taken")],
    ["bytes", () => asText(null, "claim: taken")],
    ["a number", () => asNumber(bytes("x"), "claim: taken")],
    ["a number", () => asNumber(bytes(""), "claim: taken")],
    ["a number", () => asNumber(undefined, "claim: taken")],
    ["one of a, b", () => asWord(bytes("c"), ["a", "b"], "claim: taken")],
    ["a multiple of 2", () => asRows([1, 2, 3], 2, "claim: taken")],
  ])("%s", (expected, read) => {
    expect(read).toThrow(
      expect.objectContaining({ code: "outcome-unknown", message: expect.stringMatching(`claim: taken.*${expected}`) }),
    );
  });
});
