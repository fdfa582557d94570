import { isDate } from "node:util/types";
import { type Duration, latestTime, parseDelay } from "./duration.js";
import type { DueTime } from "./engine.js";
import { invalidArgument } from "./invalid-argument.js";
import { quote } from "./quote.js";

/**
 * When a message is due: after a delay, which counts from the moment at which the store takes the message, or at a point in
 * time. Exactly one of the two. A delay that is a negative number, and a time in the past, mean now.
 */
export type When =
  | {
      /** ms, or text such as `"30m"`. */
      delay: Duration;
      at?: undefined;
    }
  | {
      /** A date or Unix ms, at the latest 8.64e15. */
      at: Date | number;
      delay?: undefined;
    };

/** The due time that options ask for. Throws `invalid-argument` unless they have exactly one of `delay` and `at`. */
export function dueTime(when: {
  readonly delay?: Duration | undefined;
  readonly at?: Date | number | undefined;
}): DueTime {
  const { delay, at } = when;
  if (delay !== undefined) {
    if (at !== undefined)
      throw invalidArgument("when", `delay is ${quote(delay)} and at is ${quote(at)}`, "exactly one of delay and at");
    return { delay: parseDelay(delay, "delay") };
  }
  if (at === undefined) throw invalidArgument("when", "there is neither delay nor at", "exactly one of delay and at");
  const time = isDate(at) ? at.getTime() : at;
  if (typeof time !== "number" || !(time <= latestTime) || time === Number.NEGATIVE_INFINITY) {
    throw invalidArgument("when", `at is ${quote(at)}`, "a Date or a number of Unix ms, at the latest 8.64e15");
  }
  return { at: Math.max(time, 0) };
}
