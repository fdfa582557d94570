import { setTimeout as sleep } from "node:timers/promises";

/** How often to ask, for how long, ms, and what went wrong when it was in vain: a sentence. */
export interface Asking {
  readonly every: number;
  readonly patience: number;
  readonly otherwise: () => string;
}

/** Asks again and again until the answer is yes, and fails when it still is no after all patience. */
export async function until(holds: () => Promise<boolean>, { every, patience, otherwise }: Asking): Promise<void> {
  const started = performance.now();
  while (!(await holds())) {
    if (performance.now() - started >= patience) throw new Error(otherwise());
    await sleep(every);
  }
}
