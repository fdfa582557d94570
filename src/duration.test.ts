import { describe, expect, it } from "vitest";
import { type Duration, parseDelay, parseDuration } from "./duration.js";
import { PunctualError } from "./errors.js";

describe("parseDuration", () => {
  it.each([
    [0, 0],
    [-0, 0],
    [0.4, 1],
    [1500, 1500],
    [2 ** 31, 2 ** 31],
    [2 ** 32 + 5000, 2 ** 32 + 5000],
    [8.64e15, 8.64e15],
    ["0s", 0],
    ["250ms", 250],
    ["0.4ms", 1],
    ["30s", 30_000],
    ["0.07s", 70],
    ["1.005s", 1005],
    ["5m", 300_000],
    ["1.5h", 5_400_000],
    ["7d", 604_800_000],
    ["3650d", 315_360_000_000],
  ])("reads %j as %d ms", (value, ms) => {
    expect(parseDuration(value, "delay")).toEqual(ms);
  });

  it.each([
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    -1,
    8.65e15,
    "1500",
    "-5m",
    "+5m",
    "",
    " 5m",
    "5 m",
    "5m\n",
    "5M",
    "5w",
    "m",
    ".5h",
    "1.h",
    "1e3ms",
    "0x10s",
    "Infinityms",
    "9999999999999999d",
  ])("refuses %j and says what is accepted", (value) => {
    expect(() => parseDuration(value, "timeout")).toThrow(PunctualError);
    expect(() => parseDuration(value, "timeout")).toThrow(/^timeout is .* accepted is a number of ms .*"30s"/s);
  });

  it.each([[null], [undefined], [true], [10n], [{}], [new Date(0)], [["5m"]], [Symbol("5m")]])(
    "refuses what is neither a number nor text",
    (value) => {
      // What a caller without types hands over.
      expect(() => Reflect.apply(parseDuration, undefined, [value, "lease"])).toThrow(
        expect.objectContaining({ code: "invalid-argument", details: { argument: "lease" } }),
      );
    },
  );

  it("shows the value that was refused, cut when it is long", () => {
    expect(() => parseDuration("1500", "delay")).toThrow('delay is "1500"; accepted is');
    expect(() => parseDuration("x".repeat(1e6), "delay")).toThrow("… (1000000 characters); accepted is");
  });
});

describe("a delay", () => {
  it.each<[Duration, number]>([
    [-1, 0],
    [-1e300, 0],
    [-0, 0],
    [0.2, 1],
    ["1.5h", 5_400_000],
  ])("of %j is %d ms", (delay, ms) => {
    expect(Object.is(parseDelay(delay, "delay"), ms)).toBe(true);
  });

  it.each([Number.NaN, Infinity, -Infinity, 8.64e15 + 2, "-1s", "1500", ""])(
    "of %j is refused, and what is accepted is what is taken",
    (delay) => {
      expect(() => parseDelay(delay, "delay")).toThrow(
        /^delay is .+; accepted is a number of ms up to 8\.64e15 \(a negative one means now\), or text of a number and a unit/,
      );
    },
  );
});
