import { setTimeout as sleep } from "node:timers/promises";

/** How long servers may take to agree on something, ms. Their own time-outs are half a second to a second. */
const patience = 30_000;

/**
 * Asks again and again until there is an answer, for what servers agree on among themselves and tell nobody. A question that
 * fails has no answer yet: a server that is asked may just be starting, frozen or gone.
 */
export async function eventually<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  const giveUpAt = performance.now() + patience;
  for (let problem: unknown; ;) {
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
    } catch (error) {
      problem = error;
    }
    if (performance.now() > giveUpAt) throw new Error(`${what}: not within ${patience} ms`, { cause: problem });
    await sleep(50);
  }
}
