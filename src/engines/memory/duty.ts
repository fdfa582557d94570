import type { CancelTimer, Clock } from "../../clock.js";
import type { Watcher } from "../../engine.js";
import type { PunctualError } from "../../errors.js";

/** A consumer that is this long overdue is not coming: another one takes its duty over, ms. Longer than timers are late. */
const overdueAfter = 50;

/**
 * Which consumer claims when the next message comes due.
 *
 * If all that wait kept a timer for the same moment, each message would be met by as many claims as there are consumers.
 * So one is on duty for the next planned time and the others only poll. A claim that fills its caller passes the duty on;
 * something that comes before the planned time wakes the one on duty. Where Redis needs a deputy for one that does not come,
 * this keeps a timer of its own.
 */
export class Duty {
  readonly #poll: number;
  readonly #watchers = new Map<string, Watcher>();
  /** Consumers that have room and are not on duty, the one that has waited longest first. */
  readonly #waiting = new Set<string>();
  #onDuty: { readonly consumer: string; at: number } | undefined;
  readonly #clock: Clock;
  readonly #nextWork: () => number;
  #cancelGuard: CancelTimer = () => {};
  #guardAt = Infinity;

  /**
   * `poll`: after how many ms a consumer claims again although nothing is known to be due. `nextWork`: when there is
   * something to claim or to reclaim next, `Infinity` for never.
   */
  constructor({ poll, clock, nextWork }: { poll: number; clock: Clock; nextWork: () => number }) {
    this.#poll = poll;
    this.#clock = clock;
    this.#nextWork = nextWork;
  }

  /** From now on this consumer can be woken. It waits for nothing before its first claim. */
  join(consumer: string, watcher: Watcher): void {
    this.#watchers.set(consumer, watcher);
  }

  /** Nobody will claim any more: tells all why. */
  close(cause: PunctualError): void {
    this.#cancelGuard();
    this.#guardAt = Infinity;
    for (const watcher of Array.from(this.#watchers.values())) watcher.interrupted(cause);
  }

  /** Takes a consumer off the books and hands its duty on. `work`: as in `expect`. */
  leave(consumer: string, work: number): void {
    this.#watchers.delete(consumer);
    this.#withdraw(consumer);
    this.expect(work);
    // Nobody is left to stand in for anybody; a timer would keep the process alive.
    if (this.#watchers.size === 0) {
      this.#cancelGuard();
      this.#guardAt = Infinity;
    }
  }

  /**
   * Books a claim that is over and says when this consumer should claim again.
   *
   * `work`: when there is something to claim or to reclaim next; not later than `now` when the claim left some. `returns`:
   * whether it will claim again by itself.
   */
  claimed(consumer: string, claim: { hasRoom: boolean; work: number; now: number; returns?: boolean }): number {
    const { hasRoom, work, now, returns = true } = claim;
    const poll = now + this.#poll;
    // One that does not return, or cannot be woken, is never waited for: others see to what it left, and to its leases.
    if (!returns || !this.#watchers.has(consumer)) {
      this.#withdraw(consumer);
      this.expect(work);
      return hasRoom ? clamp(work, now, poll) : now;
    }

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
      this.#guard();
      return at;
    }
    this.#waiting.add(consumer);
    this.#guard();
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
    this.#guard();
  }

  /**
   * Looks whether the one on duty came, as long as another one waits that could stand in. The timer is only moved to an
   * earlier time, not for every claim: one that fires too early looks again later.
   */
  #guard(): void {
    if (this.#onDuty === undefined || this.#waiting.size === 0) return;
    const at = this.#onDuty.at + overdueAfter;
    if (at >= this.#guardAt) return;
    this.#cancelGuard();
    this.#guardAt = at;
    this.#cancelGuard = this.#clock.runAt(at, () => {
      this.#guardAt = Infinity;
      if (this.#onDuty && this.#onDuty.at + overdueAfter <= this.#clock.now()) {
        this.#onDuty = undefined;
        this.expect(this.#nextWork());
      } else this.#guard();
    });
  }

  #withdraw(consumer: string): void {
    this.#waiting.delete(consumer);
    if (this.#onDuty?.consumer === consumer) this.#onDuty = undefined;
  }
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(value, high));
}
