import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Ladder } from "./ladder.js";

const ladder = new Ladder(8);
const delays = fc.double({ min: -1_000, max: ladder.longestDelay, noNaN: true });

/** How long a message with these bits waits in the levels together, by what each of them holds. */
function waitOf(bits: string): number {
  return bits.split(".").reduce((sum, bit, level) => sum + (bit === "1" ? ladder.ttl(level) : 0), 0);
}

describe("A ladder", () => {
  it("reaches further than ten years with levels that RabbitMQ takes, whatever its grain", () => {
    for (const grain of [1, 8, 64, 1_000]) {
      const one = new Ladder(grain);
      expect(one.ttl(one.levels - 1)).toBeLessThanOrEqual(315_360_000_000);
      expect(one.longestDelay).toBeGreaterThan(10 * 365 * 86_400_000);
    }
    expect([ladder.levels, ladder.ttl(0), ladder.ttl(3)]).toEqual([36, 8, 64]);
  });

  it("never holds a message longer than its delay, and lets it out as early as the hops and the grain ask for", () => {
    fc.assert(
      fc.property(delays, (delay) => {
        const { hops, delay: held } = ladder.descent(delay);
        expect(held).toBeLessThanOrEqual(Math.max(0, delay));
        // 2 ms for the start and 1 for each hop, then what the grain leaves.
        expect(delay - held).toBeLessThan(2 + 36 + 8 + 8);
        expect(hops).toBeLessThanOrEqual(36);
      }),
    );
  });

  it("names by bits the levels that together hold a message as long as it says, and enters at the highest of them", () => {
    fc.assert(
      fc.property(delays, (delay) => {
        const { bits, level, hops, delay: held } = ladder.descent(delay);
        expect(waitOf(bits)).toBe(held);
        expect(bits.replaceAll(/[^1]/g, "")).toHaveLength(hops);
        expect(bits.lastIndexOf("1") / 2).toBe(level ?? -0.5);
      }),
    );
  });

  it("is not entered for less than its grain", () => {
    expect(ladder.descent(9)).toEqual({ level: undefined, bits: "0", hops: 0, delay: 0 });
    expect(ladder.descent(11)).toEqual({ level: 0, bits: "1", hops: 1, delay: 8 });
  });
});
