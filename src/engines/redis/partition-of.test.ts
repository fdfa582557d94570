import { describe, expect, it } from "vitest";
import { partitionOf } from "./partition-of.js";

describe("partitionOf", () => {
  it("never changes, since messages lie where it says", () => {
    const ids = ["a", "order-42", "", "ünïcödé", "\u{1f600}", "x".repeat(256)];
    expect(ids.map((id) => partitionOf(id, 1_000))).toMatchInlineSnapshot(`
      [
        715,
        703,
        923,
        587,
        642,
        837,
      ]
    `);
  });

  it.each([2, 3, 12, 64])("fills %i partitions evenly, also with ids that count up", (count) => {
    const filled = Array.from({ length: count }, () => 0);
    for (let n = 0; n < 20_000; n++) {
      const place = partitionOf(`order-${n}`, count);
      filled[place] = (filled[place] ?? 0) + 1;
    }
    const even = 20_000 / count;
    for (const size of filled) expect(Math.abs(size - even)).toBeLessThan(5 * Math.sqrt(even));
  });

  it("is 0 where there is one", () => expect(partitionOf("any", 1)).toBe(0));
});
