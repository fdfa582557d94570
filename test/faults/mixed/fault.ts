import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../../demo/seeded-random.js";
import type { Reach } from "./reach.js";

/** What a fault has done, when it is over. */
export interface Struck {
  /** When it had passed, Unix ms: from then on consumers have 5 s. */
  readonly healedAt: number;
  /** From when on Redis may have forgotten what it had confirmed; undefined when it forgets nothing. */
  readonly lossesFrom?: number | undefined;
  /** When no consumer could do all of its work, and had to say so. */
  readonly outage?: Outage | undefined;
}

/** Unix ms. */
export interface Outage {
  readonly from: number;
  readonly to: number;
  /** How long after its begin no consumer may call itself running any more, ms. */
  readonly noticedWithin: number;
}

/** Something that goes wrong, and passes. */
export interface Fault {
  readonly name: string;
  /** Whether nothing may be late by it either. */
  readonly isHarmless?: boolean;
  /** Has it happen and pass. */
  strike(random: Random): Promise<Struck>;
}

/** What a run takes place on: servers, ways to reach them, and what can befall both. */
export interface Ground extends AsyncDisposable {
  readonly reach: Reach;
  readonly faults: readonly Fault[];
  /** Makes whole what a fault has left behind, such as a server that was replaced. */
  restore(): Promise<void>;
}

/** How long a fault lasts, ms: mostly shorter than what a command may wait, at times longer than a consumer may be silent. */
function lasting(random: Random): number {
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

/** Silence has to be noticed within the time for which an answer proves that all is well, ms, and some time to say so. */
const silenceNoticedWithin = 7_500 + 500;

/**
 * A fault in which servers answer nobody from `begin` until `end`, which gets what `begin` gave.
 * @param least How long after its begin it has passed at the earliest, ms.
 */
export function silence<T>(
  name: string,
  begin: (random: Random) => Promise<T> | T,
  end: (begun: T) => unknown,
  least = 0,
): Fault {
  return {
    name,
    async strike(random) {
      const begun = await begin(random);
      const from = Date.now();
      await sleep(lasting(random));
      const to = Date.now();
      await end(begun);
      const healedAt = Math.max(Date.now(), from + least);
      return { healedAt, outage: { from, to, noticedWithin: silenceNoticedWithin } };
    },
  };
}
