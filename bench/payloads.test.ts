import { describe, expect, it } from "vitest";
import { seededRandom } from "../demo/seeded-random.js";
import { payloadOf, randomPayloads } from "./payloads.js";

describe("A payload", () => {
  it.each([94, 1_024, 10_240])("of %i bytes has that many as JSON, whatever its number.", (size) => {
    for (const number of [0, 9, 10, 393_215]) {
      expect(JSON.stringify(payloadOf(number, 1_764_561_234_567, size))).toHaveLength(size);
    }
  });
});

describe("Random payloads", () => {
  it("are numbered from 0, and due in whole ms within the spread.", () => {
    const payloads = randomPayloads(1_000, { from: 5_000, spread: 100, random: seededRandom(1) });
    expect(payloads.map(({ number }) => number)).toEqual(Array.from({ length: 1_000 }, (_, number) => number));
    const due = payloads.map(({ dueAt }) => dueAt);
    expect(due.every(Number.isInteger)).toBe(true);
    expect([Math.min(...due), Math.max(...due)]).toEqual([5_001, 5_100]);
  });
});
