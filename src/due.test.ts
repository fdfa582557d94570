import { describe, expect, it } from "vitest";
import { dueTime } from "./due.js";

describe("dueTime", () => {
  it.each([
    [{ delay: 0 }, { delay: 0 }],
    [{ delay: "1.5h" }, { delay: 5_400_000 }],
    [{ delay: 0.4 }, { delay: 1 }],
    [{ delay: -1 }, { delay: 0 }],
    [{ delay: -1e15 }, { delay: 0 }],
    [{ delay: -Number.MAX_VALUE }, { delay: 0 }],
    [{ delay: 2 ** 31 }, { delay: 2 ** 31 }],
    [{ delay: 5, at: undefined }, { delay: 5 }],
    [{ at: 0 }, { at: 0 }],
    [{ at: 12.5 }, { at: 12.5 }],
    [{ at: -8.64e15 }, { at: 0 }],
    [{ at: new Date(1_700_000_000_000) }, { at: 1_700_000_000_000 }],
    [{ at: new Date(-5) }, { at: 0 }],
    [{ at: 8.64e15, delay: undefined }, { at: 8.64e15 }],
  ])("reads %o as %o", (when, due) => {
    expect(dueTime(when)).toEqual(due);
  });

  it.each([
    [{}, /there is neither delay nor at; accepted is exactly one/],
    [{ delay: undefined, at: undefined }, /neither/],
    [{ delay: 0, at: 0 }, /delay is 0 and at is 0; accepted is exactly one/],
    [{ delay: Number.NaN }, /delay is NaN; accepted is a number of ms/],
    [{ delay: Number.NEGATIVE_INFINITY }, /delay is -Infinity/],
    [{ delay: Number.POSITIVE_INFINITY }, /delay is Infinity/],
    [{ delay: "1500" }, /delay is "1500"/],
    [{ delay: "-5m" }, /delay is "-5m"/],
    [{ at: Number.NaN }, /at is NaN; accepted is a Date or a number of Unix ms/],
    [{ at: Number.NEGATIVE_INFINITY }, /at is -Infinity/],
    [{ at: 8.65e15 }, /at is 8650000000000000/],
    [{ at: new Date(Number.NaN) }, /at is an invalid Date/],
  ])("refuses %o and says what is accepted", (when, message) => {
    expect(() => dueTime(when)).toThrow(
      expect.objectContaining({ code: "invalid-argument", message: expect.stringMatching(message) }),
    );
  });

  it("refuses what only a caller without types can give", () => {
    for (const when of [{ at: "2030-01-01" }, { at: null }, { delay: null }, { delay: new Date() }]) {
      expect(() => Reflect.apply(dueTime, undefined, [when])).toThrow(
        expect.objectContaining({ code: "invalid-argument" }),
      );
    }
  });
});
