import type { CommandArgument } from "../../../clients/port.js";
import type { QueueKeys } from "../keys.js";
import type { Evaluator, Script } from "../../../scripting/script.js";
import { CountedCalls } from "./counted-calls.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { reclaim } from "./reclaim.js";

/** What is done to dead letters: its script takes {…args, until, most, [id]} and answers with a letter for each, r for done. */
export interface DeadLetterAct {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly CommandArgument[];
  /** Dead letters in one call at most. */
  readonly most: number;
  /** Names the operation among all that ever run. */
  readonly operation: string;
}

/** Does it to those that are named; answers to how many. */
export async function toNamed(evaluator: Evaluator, ids: readonly string[], act: DeadLetterAct): Promise<number> {
  const calls = new CountedCalls(evaluator, act.operation);
  // Whether it was done to each is only for the details of a call that fails.
  await inChunks(ids, { id: (id) => id }, async (chunk) => {
    const some = chunk.slice(0, act.most);
    const letters = await calls.call(act.script, act.keys, [...act.args, "", "", ...some], doneIn);
    return Array.from(letters, (letter) => letter === "r");
  });
  return calls.done;
}

/**
 * Does it to all that are there when it begins; answers to how many. Those are the ones buried until then by the server's
 * clock, and no more than there are then: one that is revived may be buried again in the same ms.
 */
export async function toAll(evaluator: Evaluator, keys: QueueKeys, act: DeadLetterAct): Promise<number> {
  const calls = new CountedCalls(evaluator, act.operation);
  const { now, dead } = await reclaim(evaluator, keys);
  for (let left = dead; left > 0;) {
    const range = [String(now), String(Math.min(left, act.most))];
    const letters = await calls.call(act.script, act.keys, [...act.args, ...range], doneIn);
    if (letters === "") break;
    left -= letters.length;
  }
  return calls.done;
}

function doneIn(letters: string): number {
  let done = 0;
  for (const letter of letters) if (letter === "r") done += 1;
  return done;
}
