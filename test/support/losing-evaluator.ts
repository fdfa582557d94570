import type { Evaluator } from "../../src/scripting/script.js";

/** How the first attempt of each call ends. */
export interface Loss {
  /** Whether the server ran it: the cut came between request and reply. Default true; else it came before the request. */
  readonly ran?: boolean;
  /** What happens between the first attempt and the second. */
  readonly meanwhile?: () => Promise<unknown>;
}

/** An evaluator whose connection is cut in the first attempt of each call, so that it makes a second one. */
export function losingEvaluator(evaluator: Evaluator, { ran = true, meanwhile }: Loss = {}): Evaluator {
  return {
    clock: evaluator.clock,
    async evaluate(script, keys, args, options) {
      const first = typeof args === "function" ? args(false) : args;
      if (ran) await evaluator.evaluate(script, keys, first, options);
      await meanwhile?.();
      const { reply } = await evaluator.evaluate(script, keys, typeof args === "function" ? args(true) : args, options);
      return { reply, uncertain: true };
    },
  };
}
