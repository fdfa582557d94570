import { type Duration, parseDuration } from "../duration.js";
import type { Backoff } from "./backoff.js";

/** The same wait after each failure, without jitter. */
export function fixedBackoff(delay: Duration): Backoff {
  const ms = parseDuration(delay, "delay");
  return () => ms;
}
