import { seededRandom } from "../demo/seeded-random.js";
import { scheduleAll } from "./bulk.js";
import type { Harness } from "./harness.js";
import { randomPayloads } from "./payloads.js";

const hour = 3_600_000;

/** Messages that are made at a time, so that this process does not hold them all. */
const piece = 20_000;

/** Schedules so many messages that are due within two hours, and not within one. */
export async function scheduleFarOff(harness: Harness, count: number, size?: number): Promise<void> {
  const random = seededRandom(1);
  for (let first = 0; first < count; first += piece) {
    const due = { from: Date.now() + hour, spread: hour, random, ...(size !== undefined && { size }) };
    await scheduleAll(harness, randomPayloads(Math.min(piece, count - first), due));
  }
}
