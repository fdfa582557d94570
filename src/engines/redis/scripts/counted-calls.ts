import type { CommandArgument } from "../../../clients/port.js";
import { PunctualError } from "../../../errors.js";
import { failureAfter } from "../../../partial-results.js";
import { asArray, asNumber, asText } from "../../../scripting/reply.js";
import type { Evaluator, Script } from "../../../scripting/script.js";

/**
 * The calls of one operation that answers with a number, such as revive. One that is made again after a lost reply must not
 * count less because the first attempt has done it already: so the script keeps its answer in Redis, and gives it again to
 * the same call (snippets/once.lua). Only when another operation has put its answer in that place meanwhile is the outcome
 * unknown.
 */
export class CountedCalls {
  readonly #evaluator: Evaluator;
  readonly #operation: string;
  #step = 0;
  #done = 0;

  /** `operation` names this one among all that ever run. */
  constructor(evaluator: Evaluator, operation: string) {
    this.#evaluator = evaluator;
    this.#operation = operation;
  }

  /** How much was done so far. */
  get done(): number {
    return this.#done;
  }

  /**
   * Runs a script whose arguments begin with operation, step and since, and whose reply is {now, answer, overwritten}.
   * `count` says how much an answer means. What fails carries in `details.done` how much was done before.
   */
  async call(
    script: Script,
    keys: readonly string[],
    args: readonly CommandArgument[],
    count: (answer: string) => number,
  ): Promise<string> {
    // At the latest the server's time, so what was kept before that cannot have taken the place of this call's answer.
    // Not before there is a connection: until the server has told its time, the clock is that of this machine.
    let since: string | undefined;
    const step = String(++this.#step);
    try {
      const { reply, uncertain } = await this.#evaluator.evaluate(script, keys, () => {
        since ??= String(Math.floor(this.#evaluator.clock.now()));
        return [this.#operation, step, since, ...args];
      });
      const [, text, overwritten] = asArray(reply, script.name);
      const answer = asText(text, `${script.name}: answer`);
      this.#done += count(answer);
      if (uncertain && asNumber(overwritten, `${script.name}: overwritten`) === 1) {
        throw new PunctualError(
          "outcome-unknown",
          `A reply was lost while another operation ran, so how many messages ${script.name} was done to is not known; at least ${this.#done}.`,
        );
      }
      return answer;
    } catch (error) {
      throw failureAfter(error, this.#done);
    }
  }
}
