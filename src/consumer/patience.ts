import type { Clock } from "../clock.js";

/** How long whoever closes waits for a store that does not answer, ms: it comes back in 5 s or the leases run out. */
const patience = 5_000;

/** Waits for an answer of the store, but not for ever. */
export async function withPatience(clock: Clock, answer: Promise<unknown>): Promise<void> {
  let cancelTimer = () => {};
  const enough = new Promise<void>((resolve) => {
    cancelTimer = clock.runAt(clock.now() + patience, resolve);
  });
  try {
    await Promise.race([answer, enough]);
  } finally {
    cancelTimer();
  }
}
