import type { CommandArgument } from "../../../clients/port.js";
import { counted } from "../../../scripting/done-count.js";
import { inChunks } from "../../../scripting/in-chunks.js";
import { asArray, asText } from "../../../scripting/reply.js";
import type { Evaluator, KeyedScript } from "../../../scripting/script.js";
import type { StreamKeys } from "../keys.js";
import { reclaim } from "./reclaim.js";

/** What is done to dead letters: its script takes {…args, until, most, [id]} and answers with a letter for each, r for done. */
export interface DeadLetterAct {
  /** The end of a sentence: "dead letters were revived". */
  readonly what: string;
  readonly script: KeyedScript<keyof StreamKeys>;
  readonly group: string;
  /** Arguments after the group. */
  readonly args?: readonly CommandArgument[];
}

/** Dead letters in one call at most. */
const mostAtOnce = 125;

/** Does it to those that are named, or to all that are there when it begins; answers to how many. */
export async function toDeadLetters(
  evaluator: Evaluator,
  keys: StreamKeys,
  ids: readonly string[] | "all",
  { what, script, group, args = [] }: DeadLetterAct,
): Promise<number> {
  return await counted(what, async (count) => {
    const call = async (until: string, some: readonly string[]) => {
      const all = [group, ...args, until, String(mostAtOnce), ...some];
      const { reply, uncertain } = await evaluator.evaluate(script, script.keysIn(keys), all);
      const [, outcomes] = asArray(reply, script.name);
      const letters = asText(outcomes, `${script.name}: outcomes`);
      count(letters.split("r").length - 1, uncertain);
      return letters;
    };
    if (ids === "all") {
      // What counts as dead because its last lease has ended is to lie with the others.
      const { now } = await reclaim(evaluator, keys, group);
      while ((await call(String(now), [])).length > 0);
    } else {
      await inChunks(ids, { id: (id) => id, items: mostAtOnce }, async (chunk) => Array.from(await call("", chunk)));
    }
  });
}
