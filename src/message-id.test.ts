import { describe, expect, it } from "vitest";
import { checkId, checkIds, idGenerator } from "./message-id.js";

const invalid = (message: RegExp) =>
  expect.objectContaining({ code: "invalid-argument", message: expect.stringMatching(message) });

describe("checkId", () => {
  it.each([["a"], [" "], ["order:A1 {x}"], ["\0"], ["\u{1f600}".repeat(64)], ["x".repeat(256)], ["ß".repeat(128)]])(
    "takes %j",
    (id) => {
      expect(checkId(id)).toBe(id);
    },
  );

  it.each([
    [""],
    ["x".repeat(257)],
    ["ß".repeat(129)],
    ["\u{1f600}".repeat(65)],
    ["\ud83d"],
    ["a\ude00b"],
    [7],
    [null],
  ])("refuses %j", (id) => {
    expect(() => checkId(id)).toThrow(invalid(/^id is .*; accepted is a string of 1 to 256 bytes/));
  });
});

describe("checkIds", () => {
  it("takes any iterable and says which one is wrong", () => {
    expect(checkIds(new Set(["a", "b"]))).toEqual(["a", "b"]);
    expect(() => checkIds(["a", ""])).toThrow(invalid(/^ids\[1\] is ""/));
  });

  it("refuses a string, which is an iterable of its characters", () => {
    expect(() => checkIds("abc")).toThrow(invalid(/^ids is "abc"; accepted is an iterable of ids/));
  });
});

describe("idGenerator", () => {
  it("makes ids that differ from each other and, by their random start, from those of others", () => {
    const newId = idGenerator(() => Buffer.from("0123456789ab"));
    const ids = Array.from({ length: 40 }, newId);
    expect(ids.slice(0, 2)).toEqual(["MDEyMzQ1Njc4OWFi1", "MDEyMzQ1Njc4OWFi2"]);
    expect(new Set(ids).size).toBe(40);
    expect(idGenerator()().slice(0, 16)).not.toBe(idGenerator()().slice(0, 16));
  });

  it("draws no randomness before the first id is needed", () => {
    let drawn = 0;
    const newId = idGenerator((bytes) => Buffer.alloc(bytes, ++drawn));
    expect(drawn).toBe(0);
    newId();
    newId();
    expect(drawn).toBe(1);
  });
});
