/**
 * What a message asks of its handler.
 * - `succeed`: return.
 * - `fail-once`, `release-once`: throw, or release, in the first delivery of it here; then succeed.
 * - `bury`: bury it by hand.
 * - `extend`: extend the lease by hand to 60 s, then hold.
 * - `hold`: wait until the consumer is told to let go, then acknowledge by hand.
 * - `block`: keep the event loop busy for 6 s in the first delivery, then acknowledge by hand.
 */
export type Plan = "succeed" | "fail-once" | "release-once" | "bury" | "extend" | "hold" | "block";

/** A payload. */
export interface Task {
  readonly plan: Plan;
  /** Makes it one of a kind. */
  readonly text: string;
}

/** How long `block` takes, ms: longer than a lease, and than a busy machine takes to start another process. */
export const blockedFor = 6_000;
