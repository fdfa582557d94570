import type { Duration } from "../duration.js";

/**
 * How long to wait before a message is delivered again, after its delivery number `attempt` (from 1) failed with `error`.
 * ms or text such as `"5s"`; not negative.
 */
export type Backoff = (attempt: number, error: unknown) => Duration;
