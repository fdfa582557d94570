import { describe, expect, it } from "vitest";
import type { Delivered, Harness } from "./harness.js";
import { untilGone } from "./until-gone.js";

/** A subject that delivers these numbers at once, and tells each time that it is asked how many are left. */
function delivering(numbers: readonly number[], left: number[]): Harness {
  return {
    scheduleMany: async () => {},
    schedule: async () => {},
    async consume(deliver) {
      for (const number of numbers) deliver({ number, dueAt: 1_000 + number });
    },
    pending: async () => left.shift() ?? 0,
    close: async () => {},
  };
}

describe("Consuming until all are gone", () => {
  it("takes a message that comes twice for one, and tells its first delivery.", async () => {
    const told: Delivered[] = [];
    await untilGone(delivering([0, 0, 0, 1, 2], []), 3, 1, { deliver: (one) => told.push(one) });
    expect(told.map(({ number }) => number)).toEqual([0, 1, 2]);
  });

  it("ends when no more are left than those that come due later, and not before.", async () => {
    const left = [7, 6, 5, 5, 5];
    await untilGone(delivering([0], left), 1, 1, { others: 5 });
    expect(left).toEqual([5, 5]);
  });

  it("is given up when what was delivered stays.", async () => {
    const stays = { ...delivering([0, 1], []), pending: async () => 7 };
    await expect(untilGone(stays, 2, 1, { others: 5, patience: 3 })).rejects.toThrow(
      "All messages were delivered, but 2 were not gone 3 ms later.",
    );
  });

  it("is given up when some are not delivered.", async () => {
    await expect(untilGone(delivering([0, 2], []), 3, 1, { patience: 3 })).rejects.toThrow(
      "1 of 3 messages were not delivered, and none for 3 ms.",
    );
  });
});
