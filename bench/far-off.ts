import { type Random, seededRandom } from "../demo/seeded-random.js";
import type { Harness, Payload } from "./harness.js";
import { scheduleInPieces } from "./pieces.js";
import { randomPayloads } from "./payloads.js";

const hour = 3_600_000;

/** Payloads of messages that are due within two hours, and not within one. */
export function farOffPayloads(count: number, random: Random = seededRandom(1), size?: number): Payload[] {
  return randomPayloads(count, { from: Date.now() + hour, spread: hour, random, ...(size !== undefined && { size }) });
}

/** Schedules so many of them. */
export async function scheduleFarOff(harness: Harness, count: number, size?: number): Promise<void> {
  const random = seededRandom(1);
  await scheduleInPieces(harness, count, (_, some) => farOffPayloads(some, random, size));
}
