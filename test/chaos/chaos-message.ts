import { createHash } from "node:crypto";
import { type Random, seededRandom } from "../../demo/seeded-random.js";

/**
 * What is done with a message.
 * - `succeed`: its handler returns after a moment; `slow`: after more than a lease lasts.
 * - `fail-once`: its first delivery fails; `release-once`: it is released, once by each process; then it succeeds.
 * - `fail-always`: it has three attempts and ends among the dead letters.
 * - `bury`: it is buried by hand.
 * - `cancel-far`: it is due in an hour and cancelled before; `cancel-near`: it is cancelled about when it is due.
 */
export type Act = (typeof acts)[number][0];

/** What there is, and how many in a thousand. */
const acts = [
  ["succeed", 817],
  ["fail-once", 80],
  ["release-once", 30],
  ["fail-always", 10],
  ["bury", 10],
  ["cancel-far", 25],
  ["cancel-near", 25],
  ["slow", 3],
] as const satisfies readonly (readonly [string, number])[];

/** Deliveries at most: of `fail-always` its own limit, of all others that of the consumers. */
export const limits = { "fail-always": 3, others: 10 } as const;

/** One message of a run. All of it follows from the seed and its number. */
export interface ChaosMessage {
  readonly id: string;
  readonly payload: Uint8Array;
  readonly act: Act;
  /** ms. */
  readonly delay: number;
  readonly attempts: number;
  /** How long its handler takes, ms. */
  readonly takes: number;
  /** How long after it was scheduled it is cancelled, ms; undefined when it is not. */
  readonly cancelAfter: number | undefined;
}

/** How long leases last, ms. What a killed process held comes back after it. */
export const lease = 3_000;
const hour = 3_600_000;

/** The message with a number, from 0. */
export function chaosMessage(seed: number, number: number): ChaosMessage {
  const random = seededRandom(Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b));
  const act = pickAct(random);
  const delay = Math.floor(random() * 2_000);
  return {
    id: `m${number}`,
    payload: randomBytes(random, number % 500 === 0 ? 4_096 : 16 + Math.floor(random() * 200)),
    act,
    delay: act === "cancel-far" ? hour : delay,
    attempts: act === "fail-always" ? limits["fail-always"] : limits.others,
    takes: act === "slow" ? 1.3 * lease : Math.floor(random() * 15),
    cancelAfter:
      act === "cancel-far" ? 200 : act === "cancel-near" ? delay + Math.floor(random() * 60) - 30 : undefined,
  };
}

/** The number of the message with this id; undefined when there is none in a run of so many. */
export function numberOf(id: string, messages: number): number | undefined {
  const number = /^m(\d+)$/.exec(id)?.[1];
  return number !== undefined && Number(number) < messages ? Number(number) : undefined;
}

/** Tells payloads apart without keeping them. */
export function digestOf(payload: Uint8Array): string {
  return createHash("sha1").update(payload).digest("base64url");
}

function pickAct(random: Random): Act {
  let left = random() * 1_000;
  for (const [act, share] of acts) {
    left -= share;
    if (left < 0) return act;
  }
  return "succeed";
}

/** Any bytes, also such as are no text. */
function randomBytes(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => Math.floor(random() * 256));
}
