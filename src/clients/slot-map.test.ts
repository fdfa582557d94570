import { describe, expect, it } from "vitest";
import type { Reply } from "./port.js";
import { movedTo, SlotMap } from "./slot-map.js";

const text = (value: string) => Buffer.from(value);
const range = (first: number, last: number, host: string | null, port: number): Reply => [
  first,
  last,
  [host === null ? null : text(host), port, text("the id"), []],
  [text("10.0.0.9"), 6379, text("a replica"), []],
];

describe("A map of slots", () => {
  it("tells the primary of each slot, at both ends of a range, and of none that nobody serves", () => {
    const map = SlotMap.from([range(0, 99, "a", 1), range(200, 299, "b", 2)], "asked");
    expect([0, 99, 100, 199, 200, 299].map((slot) => map.primaryOf(slot)?.host)).toEqual([
      "a",
      "a",
      undefined,
      undefined,
      "b",
      "b",
    ]);
    expect(map.primaries).toEqual([
      { host: "a", port: 1 },
      { host: "b", port: 2 },
    ]);
  });

  it.each([[""], ["?"], [null]])("takes the host that was asked for one that is announced as %j", (host) => {
    expect(SlotMap.from([range(0, 9, host, 7)], "asked").primaryOf(3)).toEqual({ host: "asked", port: 7 });
  });

  it("is refused when it is none", () => {
    expect(() => SlotMap.from(text("OK"), "asked")).toThrow("a map of slots that is none");
  });
});

it.each([
  ["MOVED 3999 127.0.0.1:6381", 3999, "127.0.0.1", 6381],
  ["MOVED 0 :6381", 0, "asked", 6381],
  ["MOVED 1 fd00::12:6381", 1, "fd00::12", 6381],
  ["MOVED 1 redis-1.example:6381", 1, "redis-1.example", 6381],
])("%s says where a slot is", (message, slot, host, port) => {
  expect(movedTo(message, "asked")).toEqual({ slot, primary: { host, port } });
});

it("what says nothing of the kind teaches nothing", () => {
  expect(movedTo("MOVED", "asked")).toBeUndefined();
});
