import type { Watcher } from "../../engine.js";

/**
 * A consumer that is this long overdue is not coming: another one that claims takes its duty over, ms. Longer than timers
 * are late, shorter than anybody would notice beside the poll that leads to it.
 */
const overdueAfter = 50;

/**
 * Which consumer claims when the next message comes due.
 *
 * If all that wait kept a timer for the same moment, each message would be met by as many claims as there are consumers.
 * So one is on duty for the next planned time and the others only poll. A claim that fills its caller passes the duty on;
 * something that comes before the planned time wakes the one on duty. Unlike in Redis nobody stands in for the one on
 * duty: it lives in this process, and what ends its watch hands the duty on.
 */
export class Duty {
  readonly #poll: number;
  readonly #watchers = new Map<string, Watcher>();
  /** Consumers that have room and are not on duty, the one that has waited longest first. */
  readonly #waiting = new Set<string>();
  #onDuty: { readonly consumer: string; at: number } | undefined;

  /** `poll`: after how many ms a consumer claims again although nothing is known to be due. */
  constructor(poll: number) {
    this.#poll = poll;
  }

  /** From now on this consumer can be woken. It waits for nothing before its first claim. */
  join(consumer: string, watcher: Watcher): void {
    this.#watchers.set(consumer, watcher);
  }

  /** Takes a consumer off the books and hands its duty on. `work`: as in `expect`. */
  leave(consumer: string, work: number): void {
    this.#watchers.delete(consumer);
    this.#withdraw(consumer);
    this.expect(work);
  }

  /**
   * Books a claim that is over and says when this consumer should claim again.
   *
   * `work`: when there is something to claim or to reclaim next; not later than `now` when the claim left some.
   */
  claimed(consumer: string, claim: { hasRoom: boolean; work: number; now: number }): number {
    const { hasRoom, work, now } = claim;
    const poll = now + this.#poll;
    // Without a watch it cannot be woken, so nothing must depend on it.
    if (!this.#watchers.has(consumer)) return hasRoom ? clamp(work, now, poll) : now;

    if (!hasRoom) {
      this.#withdraw(consumer);
      this.expect(work);
      return now;
    }
    // One that did not come is left out until it claims again: it may be closing, and must not be asked twice.
    if (this.#onDuty && this.#onDuty.at + overdueAfter <= now) this.#onDuty = undefined;
    const holder = this.#onDuty?.consumer ?? consumer;
    // One that left something, at the limit of a claim, goes on at once: nobody else need be woken, it is on duty.
    if (holder === consumer || work <= now) {
      if (holder !== consumer) this.#waiting.add(holder);
      this.#waiting.delete(consumer);
      const at = clamp(work, now, poll);
      this.#onDuty = { consumer, at };
      return at;
    }
    this.#waiting.add(consumer);
    // The leases of this very claim may end before the one on duty looks again.
    this.expect(work);
    return poll;
  }

  /**
   * There is something to do at `work` (`Infinity`: nothing). Wakes one consumer, if none is planned that early: the one on
   * duty, else the one that has waited longest. That one, when it is filled, passes on what is left.
   */
  expect(work: number): void {
    if (work === Infinity) return;
    if (this.#onDuty) {
      if (this.#onDuty.at <= work) return;
      this.#onDuty.at = work;
    } else {
      const [next] = this.#waiting;
      if (next === undefined) return;
      this.#waiting.delete(next);
      this.#onDuty = { consumer: next, at: work };
    }
    this.#watchers.get(this.#onDuty.consumer)?.wake(work);
  }

  #withdraw(consumer: string): void {
    this.#waiting.delete(consumer);
    if (this.#onDuty?.consumer === consumer) this.#onDuty = undefined;
  }
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(value, high));
}
