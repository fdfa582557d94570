import type { Random } from "../../../demo/seeded-random.js";
import type { RedisEngineOptions } from "../../../src/engines/redis/engine.js";

/** What a fault has done, when it is over. */
export interface Struck {
  /** When it had passed, Unix ms: from then on consumers have 5 s. */
  readonly healedAt: number;
  /** From when on Redis may have forgotten what it had confirmed; undefined when it forgets nothing. */
  readonly lossesFrom?: number | undefined;
  /** When nobody was answered, Unix ms. */
  readonly silence?: { readonly from: number; readonly to: number } | undefined;
}

/** Something that goes wrong, and passes. */
export interface Fault {
  readonly name: string;
  /** Has it happen and pass. */
  strike(random: Random): Promise<Struck>;
}

/** What a run takes place on: servers, ways to reach them, and what can befall both. */
export interface Ground extends AsyncDisposable {
  /** How producers and consumers reach the servers. */
  readonly engine: RedisEngineOptions;
  readonly faults: readonly Fault[];
  /** Makes whole what a fault has left behind, such as a server that was replaced. */
  restore(): Promise<void>;
}

/** How long a fault lasts, ms: mostly shorter than what a command may wait, at times longer than a consumer may be silent. */
export function lasting(random: Random): number {
  return random() < 0.15 ? 9_000 : 300 + random() * 3_200;
}

/** A fault that is over when `strike` has resolved. */
export function fault(name: string, strike: (random: Random) => Promise<unknown>): Fault {
  return {
    name,
    async strike(random) {
      await strike(random);
      return { healedAt: Date.now() };
    },
  };
}

/**
 * Nothing tells of a node that is frozen, or of a connection that is dead with its sockets open, but its silence: a consumer that
 * sleeps meets it when it claims next, up to 5 s later, and waits 2 s for an answer. So the 5 s in which it must work again begin
 * so long after such a fault began at the earliest, ms.
 */
export const untold = 3_000;

/**
 * A fault in which nobody is answered from `begin` until `end`.
 * @param least How long after its begin it has passed at the earliest, ms.
 */
export function silence(
  name: string,
  begin: () => unknown,
  wait: (random: Random) => Promise<unknown>,
  end: () => unknown,
  least = 0,
): Fault {
  return {
    name,
    async strike(random) {
      await begin();
      const from = Date.now();
      await wait(random);
      const to = Date.now();
      await end();
      return { healedAt: Math.max(Date.now(), from + least), silence: { from, to } };
    },
  };
}
