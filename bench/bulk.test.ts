import { describe, expect, it } from "vitest";
import { ratePerSecond, scheduleAll } from "./bulk.js";
import type { Harness, Payload } from "./harness.js";
import { payloadOf } from "./payloads.js";

/** A subject that stores what it is handed, a turn of the event loop later. */
function storing(): { readonly harness: Harness; readonly stored: Payload[] } {
  const stored: Payload[] = [];
  const harness: Harness = {
    async scheduleMany(payloads) {
      await new Promise(setImmediate);
      stored.push(...payloads);
    },
    schedule: (payload) => harness.scheduleMany([payload]),
    consume: async () => {},
    pending: async () => stored.length,
    close: async () => {},
  };
  return { harness, stored };
}

describe("Scheduling all", () => {
  it("hands over every payload once.", async () => {
    const { harness, stored } = storing();
    await scheduleAll(
      harness,
      Array.from({ length: 7_777 }, (_, number) => payloadOf(number, 1)),
    );
    expect(stored.map(({ number }) => number).toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 7_777 }, (_, number) => number),
    );
  });
});

describe("A rate", () => {
  it("counts the calls of all strands.", async () => {
    let calls = 0;
    const started = performance.now();
    const rate = await ratePerSecond(100, 20, async () => {
      await new Promise(setImmediate);
      calls += 1;
      return 1;
    });
    // It ended before we looked, so the time that it divides by is a little shorter than ours.
    expect(rate).toBeGreaterThanOrEqual((1_000 * calls) / (performance.now() - started));
  });
});
