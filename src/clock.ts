/** Stops a timer; calling it again, or after the timer fired, does nothing. */
export type CancelTimer = () => void;

/**
 * Time and timers of one engine. What is due, and which lease has ended, is decided by this clock alone; consumers plan by
 * it, so a test that moves it moves everything.
 */
export interface Clock {
  /**
   * Unix time in ms, with a fraction where the clock has one. An engine on a server gives its estimate of the server's
   * time, at the latest the true one as far as it can know: whoever waits for it is never early.
   */
  now(): number;
  /** Runs `callback` once, as soon as `now()` has reached `time`, in a task of its own; never before, never at once. */
  runAt(time: number, callback: () => void): CancelTimer;
  /**
   * Time that has passed, ms since some moment: it never steps, however `now()` is set. For
   * durations; the two have nothing in common but their pace.
   */
  elapsed(): number;
  /** Runs `callback` once, `duration` ms from now by `elapsed()`, in a task of its own; never at once. */
  runAfter(duration: number, callback: () => void): CancelTimer;
}

/** Where timers come from. */
type Timers = Pick<typeof globalThis, "setTimeout" | "clearTimeout">;

/** The longest delay that a timer of Node takes; a longer one fires at once. */
const longestDelay = 2 ** 31 - 1;

/** The monotonic time of this machine, ms. Looked up at each call, as the timers are. */
const monotonic = () => performance.now();

/**
 * A clock with timers from any source of time. Node's timers fire up to 1 ms before the wall clock agrees, run late, and
 * cannot wait for more than 24.8 days: a timer that fires too soon is set again. The global `setTimeout` is looked up at
 * each call, so that fake timers of a test runner are seen however late they are installed.
 */
export function timerClock(now: () => number, timers: Timers = globalThis, elapsed: () => number = monotonic): Clock {
  return {
    now,
    runAt(time, callback) {
      let timer: NodeJS.Timeout;
      const arm = () => {
        const delay = Math.min(Math.max(Math.ceil(time - now()), 0), longestDelay);
        timer = timers.setTimeout(() => {
          if (now() >= time) callback();
          else arm();
        }, delay);
      };
      arm();
      return () => timers.clearTimeout(timer);
    },
    elapsed,
    runAfter(duration, callback) {
      let timer: NodeJS.Timeout;
      // Only counted down, and not compared with `elapsed`: fake timers that move alone must fire too.
      const arm = (left: number) => {
        const delay = Math.min(Math.max(Math.ceil(left), 0), longestDelay);
        timer = timers.setTimeout(() => (delay >= left ? callback() : arm(left - delay)), delay);
      };
      arm(duration);
      return () => timers.clearTimeout(timer);
    },
  };
}

/** The clock of this machine. */
export const systemClock: Clock = timerClock(() => Date.now());

/**
 * The clock of this machine, also where a test runner has replaced it since: for pauses that spare a server, not for what is
 * due. A test that stops the time must not wait for them for ever.
 */
export const realClock: Clock = timerClock(Date.now, { setTimeout, clearTimeout }, performance.now.bind(performance));
