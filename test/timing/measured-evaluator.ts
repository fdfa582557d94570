import type { Evaluator } from "../../src/scripting/script.js";
import type { RawRedis } from "../support/raw-redis.js";
import { workOf } from "../support/redis-work.js";

/** The same work each time, under 1 ms. */
const yardstick = "local t = {} for i = 1, 1000 do t[i] = string.sub('abcdefghijk' .. i, 3) end return #t";

/** After how many scripts the yardstick is run once. */
const interval = 8;

/**
 * An evaluator that notes how long the processor of Redis worked for each script: for reading, running and answering it.
 *
 * That is not the time that passes, which goes on while others have the processor. But those who share its caches make all work
 * longer; how much, the yardstick says, which is run in between.
 */
export class MeasuredEvaluator implements Evaluator {
  readonly #evaluator: Evaluator;
  readonly #raw: RawRedis;
  /** `after`: how many yardsticks were run before it. */
  readonly #works: { readonly name: string; readonly ms: number; readonly after: number }[] = [];
  readonly #yardsticks: number[] = [];

  /** Nobody else may use the Redis of `raw` meanwhile. */
  constructor(evaluator: Evaluator, raw: RawRedis) {
    this.#evaluator = evaluator;
    this.#raw = raw;
  }

  get clock() {
    return this.#evaluator.clock;
  }

  async evaluate(...[script, ...rest]: Parameters<Evaluator["evaluate"]>) {
    if (this.#works.length % interval === 0) {
      const began = await workOf(this.#raw);
      await this.#raw.command("EVAL", yardstick, 0);
      this.#yardsticks.push((await workOf(this.#raw)) - began);
    }
    const before = await workOf(this.#raw);
    const evaluation = await this.#evaluator.evaluate(script, ...rest);
    this.#works.push({ name: script.name, ms: (await workOf(this.#raw)) - before, after: this.#yardsticks.length });
    return evaluation;
  }

  /** The names of all scripts so far. */
  names(): Set<string> {
    return new Set(this.#works.map(({ name }) => name));
  }

  /**
   * The calls so far that took longer; on a busy machine, longer than that by as much as it was slowed down then. Of twenty calls
   * of a script one may meet what no yardstick met.
   */
  over(ms: number): Overrun[] {
    return [...this.names()].flatMap((name) => {
      const works = this.#works.filter((work) => work.name === name);
      const over = works.flatMap(({ ms: took, after }) => {
        // The two yardsticks that it ran between.
        const limit = ms * slownessOf(this.#yardsticks, this.#yardsticks.slice(after - 1, after + 1));
        return took > limit ? [{ took, limit }] : [];
      });
      return beyondChance(over, works.length, ms).map((one) => ({ name, ...one }));
    });
  }
}

/** How long a call took, and how long it might have, ms. */
interface Work {
  readonly took: number;
  readonly limit: number;
}

/** A call of a script that took longer than it may. */
export interface Overrun extends Work {
  readonly name: string;
}

/** Of so many calls of a script one may be held up by the machine. */
const callsForChance = 20;

/** Calls that took longer than they may, less those that the machine may have held up for a moment. */
export function beyondChance(over: readonly Work[], calls: number, budget: number): Work[] {
  const excused = Math.floor(calls / callsForChance);
  const long = over.filter(({ took }) => took > budget * mostSlowness);
  const rest = over.filter(({ took }) => took <= budget * mostSlowness).toSorted((one, other) => other.took - one.took);
  return [...long, ...rest.slice(excused)];
}

/** A machine that is slowed down by more can say nothing about a budget; beyond this a call is too long, whatever the reason. */
const mostSlowness = 3;

/**
 * How much longer yardsticks took for a while, `then`, than on the machine when nobody disturbs; 1 where it hardly differs. That
 * time is the one which a tenth of all stays below: a single one may be cut short by the grain of the counter.
 */
export function slownessOf(all: readonly number[], then: readonly number[]): number {
  const undisturbed = all.toSorted((one, other) => one - other)[Math.floor(all.length * 0.1)] ?? 0;
  // Where so many took no time that could be counted, nothing is known.
  if (undisturbed === 0) return 1;
  const slowness = Math.max(...then) / undisturbed;
  return slowness >= 1.3 ? Math.min(slowness, mostSlowness) : 1;
}
