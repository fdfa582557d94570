import { outcomesOf } from "../../../scripting/outcomes.js";
import { asArray, asNumber, asText } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { KeyExpiryKeys } from "../keys.js";
import { idPages } from "../id-pages.js";
import { sources } from "./sources.generated.js";
import { pageSize } from "./take.js";

const script = defineScript("survey", sources["survey"], { keys: ["ids", "state"], harmlessWhenLate: true });

const words = { d: "due", w: "scheduled", g: "gone" } as const;

/** How many messages are due, and how many are not yet; and whether there is a pause. Asks about each of them. */
export async function survey(
  evaluator: Evaluator,
  keys: KeyExpiryKeys,
): Promise<{ readonly scheduled: number; readonly due: number; readonly paused: boolean }> {
  const counted = { due: 0, scheduled: 0, gone: 0 };
  let paused = false;
  await idPages(async (ids, cursor) => {
    const names = [...script.keysIn(keys), ...ids.map((id) => keys.message + id)];
    const { reply } = await evaluator.evaluate(script, names, [cursor, String(pageSize)]);
    const [, pause, letters, next, page] = asArray(reply, "survey");
    paused = asNumber(pause, "survey: paused") === 1;
    for (const standing of outcomesOf(letters, words, "survey: standings")) counted[standing] += 1;
    return {
      cursor: asText(next, "survey: cursor"),
      page: asArray(page, "survey: page").map((id) => asText(id, "survey: id")),
    };
  });
  return { scheduled: counted.scheduled, due: counted.due, paused };
}
