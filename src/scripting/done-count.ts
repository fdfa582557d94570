import { PunctualError } from "../errors.js";
import { failureAfter } from "../partial-results.js";

/** Counts what a call did; `uncertain`: the reply of an earlier attempt was lost, which may have done some of it. */
export type Count = (done: number, uncertain: boolean) => void;

/**
 * Answers how much an operation of several calls did. Fails with `outcome-unknown` when a lost reply hides that. What fails carries
 * in `details.done` how much was done at least. `what` ends the sentence: "dead letters were revived".
 */
export async function counted(what: string, work: (count: Count) => Promise<unknown>): Promise<number> {
  let done = 0;
  let isKnown = true;
  try {
    await work((some, uncertain) => {
      done += some;
      isKnown &&= !uncertain;
    });
  } catch (error) {
    throw failureAfter(error, done);
  }
  if (isKnown) return done;
  throw new PunctualError(
    "outcome-unknown",
    `A reply was lost, so it is not known how many ${what}; at least ${done}.`,
    { details: { done } },
  );
}
