import { PunctualError } from "../../errors.js";
import type { Evaluator } from "../../scripting/script.js";

/**
 * The same evaluator, but it says which options keep the keys of a queue in one slot, where a Cluster refuses a script because
 * they are not.
 */
export function explainingSlots(evaluator: Evaluator): Evaluator {
  return {
    clock: evaluator.clock,
    async evaluate(...call) {
      try {
        return await evaluator.evaluate(...call);
      } catch (error) {
        if (!(error instanceof PunctualError) || error.details["reply"] !== "CROSSSLOT") throw error;
        throw new PunctualError(
          "misconfigured",
          "In a Redis Cluster the keys of a queue of the engine delayqueue share a slot only with { hashTag: true } and without a prefix; give it so here, and the same to the Go library.",
          { cause: error, details: error.details },
        );
      }
    },
  };
}
