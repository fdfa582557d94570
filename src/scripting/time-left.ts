import type { Clock } from "../clock.js";
import type { CallOptions } from "../engine.js";

/**
 * The limits of a call that is made in parts, asked for before each of them: what the caller allowed counts for the whole, so a
 * part has what those before it left. Where nothing was asked for, each part has the default: a list of any length may take
 * longer than that while the store answers all the time.
 */
export function timeLeft(clock: Clock, { signal, timeout }: CallOptions): () => CallOptions {
  if (timeout === undefined) return () => ({ signal });
  const endsAt = clock.elapsed() + timeout;
  return () => ({ signal, timeout: Math.max(endsAt - clock.elapsed(), 0) });
}
