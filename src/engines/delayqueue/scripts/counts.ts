import type { Counts } from "../../../engine.js";
import { asArray, asNumber } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { DelayqueueKeys } from "../keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("counts", sources["counts"], {
  keys: ["pending", "ready", "unack", "retry", "counts", "state"],
  harmlessWhenLate: true,
});

/** How many messages are in each state, and whether the queue is paused. */
export async function counts(evaluator: Evaluator, keys: DelayqueueKeys): Promise<Counts> {
  const { reply } = await evaluator.evaluate(script, script.keysIn(keys), []);
  const [, scheduled, due, leased, paused] = asArray(reply, "counts");
  return {
    scheduled: asNumber(scheduled, "counts: scheduled"),
    due: asNumber(due, "counts: due"),
    leased: asNumber(leased, "counts: leased"),
    dead: 0,
    paused: asNumber(paused, "counts: paused") === 1,
  };
}
