import type { DueTime } from "../../engine.js";

/** The due time in whole ms, not before `now`. */
export function dueAtOf(due: DueTime, now: number): number {
  const wanted = "at" in due ? due.at : now + Math.max(due.delay, 0);
  return Math.ceil(Math.max(wanted, now));
}
