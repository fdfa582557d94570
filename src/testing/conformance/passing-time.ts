import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

/** How a case lets time pass, on the clock of its engine. */
export interface PassingTime {
  /** Lets `duration` ms pass, at least. */
  elapse(duration: number): Promise<void>;
  /**
   * Lets time pass until `condition` holds. Rejects with an assertion error that says `what` was waited for when it still
   * does not hold `within` ms later.
   */
  until(condition: () => boolean | Promise<boolean>, what: string, within: number): Promise<void>;
}

/** Time that passes by itself, for engines on a real clock. `monotonic` is a source of ms that never steps. */
export function realTime(monotonic: () => number = () => performance.now()): PassingTime {
  return {
    async elapse(duration) {
      // A timer of Node may fire 1 ms before its time.
      const end = monotonic() + duration;
      for (let left = duration; left > 0; left = end - monotonic()) await sleep(Math.ceil(left));
    },
    async until(condition, what, within) {
      const end = monotonic() + within;
      while (!(await condition())) {
        assert.ok(monotonic() < end, `${within} ms later still not so: ${what}`);
        await sleep(4);
      }
    },
  };
}

/** Time that passes when it is told to, for engines on a clock such as `manualClock()`. */
export function movedTime(clock: { advance(duration: number): Promise<unknown> }): PassingTime {
  return {
    async elapse(duration) {
      await clock.advance(duration);
    },
    async until(condition, what, within) {
      const step = Math.max(1, Math.ceil(within / 100));
      for (let passed = 0; !(await condition()); passed += step) {
        assert.ok(passed <= within, `${within} ms later still not so: ${what}`);
        await clock.advance(step);
      }
    },
  };
}
