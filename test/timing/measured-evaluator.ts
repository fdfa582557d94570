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
  readonly #works: { readonly name: string; readonly ms: number }[] = [];
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
    this.#works.push({ name: script.name, ms: (await workOf(this.#raw)) - before });
    return evaluation;
  }

  /** The names of all scripts so far. */
  names(): Set<string> {
    return new Set(this.#works.map(({ name }) => name));
  }

  /** The calls so far that took longer, as text; on a busy machine, longer than that by as much as it is slowed down. */
  over(ms: number): string[] {
    const limit = ms * this.#slowness();
    const long = this.#works.filter((work) => work.ms > limit);
    return long.map((work) => `${work.name}: ${work.ms.toFixed(1)} ms of ${limit.toFixed(1)}`);
  }

  /** How much longer the yardstick usually takes than at its best; 1 on a quiet machine, where it hardly differs. */
  #slowness(): number {
    const sorted = this.#yardsticks.toSorted((one, other) => one - other);
    const [least = 1] = sorted;
    const median = sorted[Math.floor(sorted.length / 2)] ?? least;
    return median < 1.3 * least ? 1 : median / least;
  }
}
