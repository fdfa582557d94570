import type { AuditReport, ClaimResult, ListPage, ScheduleResult } from "../../src/engine.js";
import type { Operation } from "./operations.js";

/**
 * Where the engines may answer differently, because the contract leaves it to them; everything else has to be equal. Each
 * function takes what differs out of an answer, and says why it may.
 */
export const allowedDifferences = {
  /**
   * `dueAt` of a duplicate, where producers ask for different `rememberFor`: of an id that is gone it tells when that went,
   * and Redis knows only until when it is remembered, so it takes for granted that this was asked for as it is now.
   */
  schedule: (rememberFor: readonly number[]) => (results: readonly ScheduleResult[]) => {
    if (new Set(rememberFor.filter((duration) => duration > 0)).size < 2) return results;
    return results.map(({ outcome, dueAt }) => ({ outcome, dueAt: outcome === "duplicate" ? undefined : dueAt }));
  },

  /**
   * `nextAt`: who is on duty is decided by different means, and a claim may always come sooner than need be. `buried`: a list
   * without an order; leases that ended in one ms lie by id in Redis, by sequence in memory.
   */
  claim({ messages, leaseUntil, now, buried, missing }: ClaimResult): unknown {
    return { messages, leaseUntil, now, buried: buried.toSorted((a, b) => (a.id < b.id ? -1 : 1)), missing };
  },

  /**
   * Of a claim that is made again Redis looks for its leases before it reclaims others, and then leaves those; memory
   * reclaims first. What that buries, the claim that follows it here tells or has told.
   */
  claimAgain({ messages, leaseUntil, now, missing }: ClaimResult): unknown {
    return { messages, leaseUntil, now, missing };
  },

  /**
   * Dead and absent, where the number of dead letters is bounded: memory lets one fall out as soon as another is buried on the
   * way, Redis at the end of the call. `get` and what fell out, after the call, are equal.
   */
  reschedule: (maxDead: number | null) => (outcomes: readonly string[]) => {
    if (maxDead === null) return outcomes;
    return outcomes.map((outcome) => (outcome === "dead" || outcome === "absent" ? "dead or absent" : outcome));
  },

  /** Kinds, sentences and what is looked at follow from the indexes, which are others. */
  audit({ ok, problems }: AuditReport): unknown {
    return { ok, problems: problems.length };
  },

  /**
   * A cursor means something to the engine that gave it. One behind the last message may lead to an empty page: Redis reads
   * ended leases of both kinds, due and dead, and gives one when only others are left. That page is looked at.
   */
  list({ messages }: ListPage): unknown {
    return { messages };
  },
};

/**
 * Leases are given and extended at whole ms: in Redis a lease lasts from the ms that has begun, in memory from the very
 * moment, and then ends at the next whole ms. Both are whole, and less than 1 ms apart.
 */
export function timeOfLease(time: number): number {
  return Math.ceil(time);
}

/**
 * Whether an operation may reclaim leases that have ended, or leave them as ended: `revive` of all and `purge` do in Redis, a
 * claim that is made again does in memory. A lease that has ended may be reclaimed at its deadline or later (promise 3),
 * and until then its token settles; so behind these a claim of nothing reclaims on both, whose answer is not compared.
 */
export function mayReclaim(operation: Operation): boolean {
  const { op } = operation;
  return op === "purge" || op === "claim again" || (op === "revive" && operation.ids === "all");
}

/**
 * Whether dead letters that are over their age may be there still: Redis lets them fall out with each claim and settlement,
 * memory with each claim and burial. So where an age is set, a claim of nothing follows whatever is done, and the passing of
 * time too, on both; its answer is not compared, what is left after it is.
 */
export function mayKeepTooOld(maxDeadAge: number | null): boolean {
  return maxDeadAge !== null;
}
