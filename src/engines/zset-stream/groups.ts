import type { CommandArgument } from "../../clients/port.js";
import { PunctualError } from "../../errors.js";
import type { CallOptions } from "../../engine.js";
import { asArray, asText } from "../../scripting/reply.js";
import type { Evaluation, Evaluator, KeyedScript } from "../../scripting/script.js";
import { type GroupKeys, groupKeys, keysOfEachGroup, type SharedKeys } from "./keys.js";

/** How often the groups may turn out to be others than were known, one call after the other. */
const mostTries = 20;

/**
 * The groups of a queue, for scripts that work on all of them. A script makes no key, so it is given those of each group that is
 * known; where there are others it does nothing, answers with the names of all, and is called again.
 */
export class Groups {
  readonly #base: string;
  readonly #shared: SharedKeys;
  #names: readonly string[] = [];

  constructor(base: string, shared: SharedKeys) {
    this.#base = base;
    this.#shared = shared;
  }

  /** The groups as they were known last. */
  known(): { readonly name: string; readonly keys: GroupKeys }[] {
    return this.#names.map((name) => ({ name, keys: groupKeys(this.#base, name) }));
  }

  /** `args` are those that follow the groups; `again` as in `evaluate`. */
  async evaluate(
    evaluator: Evaluator,
    script: KeyedScript<keyof SharedKeys>,
    args: (again: boolean) => readonly CommandArgument[],
    options?: CallOptions,
  ): Promise<Evaluation> {
    let lost = false;
    for (let tries = 0; tries < mostTries; tries++) {
      const groups = this.known();
      const keys = [
        ...script.keysIn(this.#shared),
        ...groups.flatMap(({ keys: own }) => keysOfEachGroup.map((key) => own[key])),
      ];
      const head = [String(groups.length), ...groups.flatMap(({ name, keys: own }) => [name, own.channel])];
      const { reply, uncertain } = await evaluator.evaluate(
        script,
        keys,
        (again) => [...head, ...args(again || lost)],
        options,
      );
      lost ||= uncertain;
      const [, first] = asArray(reply, script.name);
      if (!Array.isArray(first)) return { reply, uncertain: lost };
      this.#names = first.map((name) => asText(name, `${script.name}: group`));
    }
    throw new PunctualError(
      lost ? "outcome-unknown" : "refused",
      `The groups of the queue changed ${mostTries} times during one call of ${script.name}; try again.`,
    );
  }
}
