import { PunctualError } from "../../../errors.js";
import { asArray, asNumber, asText } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { idPages } from "../id-pages.js";
import { type KeyExpiryKeys, pairsOf } from "../keys.js";
import { sources } from "./sources.generated.js";
import { pageSize } from "./take.js";

const script = defineScript("purge", sources["purge"], { keys: ["ids", "state"] });

/** Deletes all that waits when it begins, and answers how much that was; fails with `outcome-unknown` after a lost reply. */
export async function purge(evaluator: Evaluator, keys: KeyExpiryKeys): Promise<number> {
  let began = "";
  let count = 0;
  let lost = false;
  await idPages(async (ids, cursor) => {
    const names = [...script.keysIn(keys), ...pairsOf(keys, ids)];
    const args = [began, cursor, String(pageSize), ...ids];
    const { reply, uncertain } = await evaluator.evaluate(script, names, args);
    const [, time, deleted, next, page] = asArray(reply, "purge");
    began = asText(time, "purge: began");
    count += asNumber(deleted, "purge: count");
    lost ||= uncertain && ids.length > 0;
    return {
      cursor: asText(next, "purge: cursor"),
      page: asArray(page, "purge: page").map((id) => asText(id, "purge: id")),
    };
  });
  if (!lost) return count;
  throw new PunctualError(
    "outcome-unknown",
    `A reply was lost, so it is not known how many messages were purged; at least ${count}.`,
  );
}
