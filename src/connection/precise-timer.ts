import type { CancelTimer, Clock } from "../clock.js";
import { nextTurn } from "./next-turn.js";

/**
 * Waits of at least so many ms end precisely: that keeps a processor busy for 1 to 2 ms of each. With more due times than these
 * leave room for, the next claim is on its way anyway.
 */
const worthPrecision = 10;

/** Node counts whole ms from a time that it has read before, so its timers fire up to 1 ms too soon or too late. */
const grain = 1;

/**
 * How long the last part may take, ms: the timer is set for 1 to 2 ms before the time, and may fire 1 ms before that. A clock that
 * has not arrived by then stands still, as in a test, or was set back.
 */
const longestWatch = 3 * grain;

/** Turns in which the last part is waited for, also where the time that has elapsed stands still. */
const mostTurns = 10_000;

/**
 * `runAt` of a clock without the grain of Node's timers: the timer is set for whole ms, and what is left, less than one as a rule,
 * is waited for turn by turn of the event loop. Half of the messages of a quiet queue started 1.8 ms late or later with timers
 * alone, 1.1 with this.
 */
export function runPrecisely(clock: Clock, time: number, callback: () => void): CancelTimer {
  const wait = time - clock.now();
  if (wait < worthPrecision) return clock.runAt(time, callback);
  let isCancelled = false;
  let cancel = clock.runAfter(Math.floor(wait) - grain, () => {
    // The clock has learned better meanwhile.
    if (time - clock.now() > longestWatch) {
      cancel = clock.runAt(time, callback);
      return;
    }
    const until = clock.elapsed() + longestWatch;
    let turns = 0;
    const look = () => {
      if (isCancelled) return;
      if (clock.now() >= time) callback();
      else if (clock.elapsed() < until && turns++ < mostTurns) nextTurn(look);
      else cancel = clock.runAt(time, callback);
    };
    look();
  });
  return () => {
    isCancelled = true;
    cancel();
  };
}
