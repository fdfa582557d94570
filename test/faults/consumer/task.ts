/**
 * What a message asks of its handler.
 * - `succeed`: return.
 * - `fail-once`, `release-once`: throw, or release, in the first delivery of it here; then succeed.
 * - `bury`: bury it by hand.
 * - `extend`: extend the lease by hand to 60 s, then hold.
 * - `hold`: wait until the consumer is told to let go, then acknowledge by hand.
 * - `block`: keep the event loop busy for 2.5 s in the first delivery, then acknowledge by hand.
 */
export type Plan = "succeed" | "fail-once" | "release-once" | "bury" | "extend" | "hold" | "block";

/** A payload. */
export interface Task {
  readonly plan: Plan;
  /** Makes it one of a kind. */
  readonly text: string;
}

/** How long `block` takes, ms. */
export const blockedFor = 2_500;
