import { scheduleAll } from "./bulk.js";
import type { Harness, Payload } from "./harness.js";

/** Messages that are made at a time, so that this process does not hold them all. */
const piece = 20_000;

/** Schedules `count` messages in pieces. `make` is told the number of the first in a piece, and how many there are. */
export async function scheduleInPieces(
  harness: Harness,
  count: number,
  make: (first: number, some: number) => readonly Payload[],
): Promise<void> {
  for (let first = 0; first < count; first += piece) {
    await scheduleAll(harness, make(first, Math.min(piece, count - first)));
  }
}
