import type { Clock } from "../../src/clock.js";

/** A clock that a sequence of operations moves. */
export interface SteppedClock extends Clock {
  /** Unix ms, whole microseconds; may be set. */
  time: number;
}

/**
 * Makes a clock that stands still until its time is set, and never runs a timer: engines have timers only for consumers that
 * watch, and here nobody does. So a step costs nothing, unlike the advance of a manual clock, which waits for the program.
 */
export function steppedClock(start: number): SteppedClock {
  const never = () => () => {};
  const clock: SteppedClock = {
    time: start,
    now: () => clock.time,
    elapsed: () => clock.time,
    runAt: never,
    runAfter: never,
  };
  return clock;
}
