import { isDate } from "node:util/types";
import type { CancelTimer, Clock } from "../clock.js";
import { type Duration, parseDuration } from "../duration.js";
import { PunctualError } from "../errors.js";
import { invalidValue } from "../invalid-argument.js";
import { Heap, type HeapItem } from "./heap.js";

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /**
   * Moves the time forward by `duration` and runs every timer that comes due on the way, in order, each at its own time.
   * Before, between and after them the program runs until it is quiet, so that after `await clock.advance("30m")` a handler
   * that was due has run. Quiet means that for some turns of the event loop nobody used this clock: what a handler awaits
   * beyond promises and a few turns, such as a request to a server, is not waited for; await an event of it instead.
   *
   * Two advances at once run one after the other. What a timer throws rejects the advance in which it ran.
   */
  advance(duration: Duration): Promise<void>;
  /** As `advance`, to a point in time: a `Date` or Unix ms. One that has passed is refused with `invalid-argument`. */
  advanceTo(time: Date | number): Promise<void>;
}

/** Where a manual clock starts unless told: the same moment in every run, so that a failure repeats. */
const defaultStart = Date.UTC(2026, 0, 1);

/** Turns without any use of the clock after which the next timer may run: an idle claim is over in one. */
const quietTurnsBetween = 3;

/** The same before the first timer and after the last one, where waiting longer costs little. */
const quietTurnsAround = 10;

/** Turns after which time goes on although the program never is quiet, as one that loops on `setImmediate`. */
const longestWait = 1_000;

// Kept from before a test runner replaces it: the turns of the event loop go on under fake timers.
const realSetImmediate = setImmediate;
const realClearImmediate = clearImmediate;

interface Timer extends HeapItem {
  readonly time: number;
  readonly order: number;
  readonly callback: () => void;
}

/**
 * Makes a clock for tests: give it to `memoryEngine({ clock })` and move it. It starts at `start`, a `Date` or Unix ms, by
 * default 2026-01-01T00:00:00Z. What is no time is refused with `invalid-argument`. A timer for a time that has been
 * reached runs in the next turn, without an advance.
 */
export function manualClock(start: Date | number = defaultStart): ManualClock {
  let time = readTime(start, "start");
  let uses = 0;
  let timersSet = 0;
  let lastAdvance: Promise<void> = Promise.resolve();
  const timers = new Heap<Timer>((a, b) => a.time < b.time || (a.time === b.time && a.order < b.order));

  function runAt(wanted: number, callback: () => void): CancelTimer {
    uses += 1;
    if (typeof wanted !== "number" || Number.isNaN(wanted)) throw invalidValue("time", wanted, "a number of Unix ms");
    if (typeof callback !== "function") throw invalidValue("callback", callback, "a function");
    if (wanted <= time) {
      const immediate = realSetImmediate(() => {
        uses += 1;
        callback();
      });
      return () => realClearImmediate(immediate);
    }
    const timer: Timer = { time: wanted, order: timersSet++, callback, slot: -1 };
    timers.push(timer);
    return () => {
      uses += 1;
      if (timer.slot >= 0) timers.remove(timer);
    };
  }

  async function untilQuiet(quietTurns: number): Promise<void> {
    let quiet = 0;
    for (let turns = 0; quiet < quietTurns && turns < longestWait; turns++) {
      const before = uses;
      await new Promise<void>((resolve) => void realSetImmediate(resolve));
      quiet = uses === before ? quiet + 1 : 0;
    }
  }

  async function moveTo(target: number): Promise<void> {
    await untilQuiet(quietTurnsAround);
    for (let timer = timers.peek(); timer !== undefined && timer.time <= target; timer = timers.peek()) {
      timers.remove(timer);
      time = timer.time;
      timer.callback();
      await untilQuiet(quietTurnsBetween);
    }
    time = target;
    await untilQuiet(quietTurnsAround);
  }

  /** Runs advances one after the other, so that a relative one counts from where the one before it ended. */
  function inTurn(target: () => number): Promise<void> {
    const advance = lastAdvance.then(() => moveTo(target()));
    lastAdvance = advance.catch(() => undefined);
    return advance;
  }

  return {
    now() {
      uses += 1;
      return time;
    },
    runAt,
    elapsed() {
      uses += 1;
      return time;
    },
    runAfter: (duration, callback) => runAt(time + duration, callback),
    async advance(duration) {
      const ms = parseDuration(duration, "the duration to advance by");
      await inTurn(() => time + ms);
    },
    async advanceTo(wanted) {
      const target = readTime(wanted, "the time to advance to");
      await inTurn(() => {
        if (target >= time) return target;
        throw new PunctualError("invalid-argument", `A manual clock at ${time} cannot go back to ${target}.`, {
          details: { argument: "time" },
        });
      });
    },
  };
}

function readTime(value: Date | number, argument: string): number {
  const time = isDate(value) ? value.getTime() : value;
  if (typeof time === "number" && Number.isFinite(time)) return time;
  throw invalidValue(argument, value, "a valid Date or Unix ms");
}
