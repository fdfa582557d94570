import { describe, expect, it } from "vitest";
import { checkHeaders } from "./headers.js";

describe("checkHeaders", () => {
  it("copies headers, so that a later change of the caller's object changes nothing", () => {
    const headers = { traceparent: "00-1", empty: "" };
    const checked = checkHeaders(headers);
    headers.traceparent = "changed";
    expect(checked).toEqual({ traceparent: "00-1", empty: "" });
  });

  it("takes an object without a prototype, names with undefined, and nothing", () => {
    expect(checkHeaders(Object.assign(Object.create(null), { a: "1" }))).toEqual({ a: "1" });
    expect(checkHeaders({ a: "1", b: undefined })).toEqual({ a: "1" });
    expect(checkHeaders({})).toBeUndefined();
    expect(checkHeaders(undefined)).toBeUndefined();
  });

  it.each([
    ["a number as a value", { n: 1 }, /headers\["n"\] is 1/],
    ["null as a value", { n: null }, /headers\["n"\] is null/],
    ["a Map, which would look empty", new Map([["a", "1"]]), /headers is an object/],
    ["Headers, which would look empty", new Headers({ a: "1" }), /headers is an object/],
    ["an array", ["a"], /headers is an array/],
    ["text", "a=1", /headers is "a=1"/],
    ["null", null, /headers is null/],
    ["half of a surrogate pair", { a: "\ud800" }, /headers\["a"\]/],
    ["a name that would set a prototype", JSON.parse('{"__proto__":"x"}'), /has the name "__proto__"/],
    ["more than 8,192 bytes", { a: "ß".repeat(4_096) }, /headers has 8,193 bytes/],
  ])("refuses %s", (_, headers, message) => {
    expect(() => checkHeaders(headers)).toThrow(
      expect.objectContaining({ code: "invalid-argument", message: expect.stringMatching(message) }),
    );
  });
});
