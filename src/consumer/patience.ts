import type { Clock } from "../clock.js";

/** How long to wait for a store that does not answer, ms: it comes back in 5 s or the leases run out. */
const longPatience = 5_000;

/** How long whoever closes waits for it beyond the time that it was given, ms, in all. */
export const lastPatience = 1_000;

/** Waits for an answer of the store, but not for ever. */
export async function withPatience(clock: Clock, answer: Promise<unknown>, patience = longPatience): Promise<void> {
  let cancelTimer = () => {};
  const enough = new Promise<void>((resolve) => {
    cancelTimer = clock.runAfter(patience, resolve);
  });
  try {
    await Promise.race([answer, enough]);
  } finally {
    cancelTimer();
  }
}
