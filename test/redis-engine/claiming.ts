import type { ClaimResult } from "../../src/engine.js";
import { claim } from "../../src/engines/redis/scripts/claim.js";
import type { ClaimCall } from "../../src/scripting/claimed.js";
import type { Evaluator } from "../../src/scripting/script.js";
import type { RawQueue, ScriptBench } from "./raw-queue.js";

/** Claims by the script alone, each time with another token and as a later claim of one consumer, unless a test says otherwise. */
export function claimsOf(bench: () => ScriptBench) {
  let claims = 0;
  return async (
    queue: RawQueue,
    request: Partial<ClaimCall> = {},
    evaluator: Evaluator = bench().evaluator,
  ): Promise<ClaimResult> => {
    const order = ++claims;
    return await claim(evaluator, queue.keys, {
      consumer: "c",
      token: `t${order}`,
      limit: 10,
      lease: 30_000,
      attempts: 5,
      order,
      ...request,
    });
  };
}

export const idsOf = (result: ClaimResult): string[] => result.messages.map(({ id }) => id);
