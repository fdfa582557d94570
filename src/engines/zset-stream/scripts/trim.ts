import type { DeadLetterBounds } from "../../../dead-letter-bounds.js";
import type { CallOptions, Dropped } from "../../../engine.js";
import { asArray, asBytes, asNumber, asText } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { StreamKeys } from "../keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("trim", sources["trim"], {
  keys: ["messages", "moved", "stream", "queue", "gone", "copies", "dead", "failures"],
  harmlessWhenLate: true,
});

/**
 * Gives up the dead letters of a group that are over its bounds; tells which were, and how many ever were. Answers when the next
 * one can be over age, Unix ms, whoever buries it.
 */
export async function trim(
  evaluator: Evaluator,
  keys: StreamKeys,
  group: string,
  { max, maxAge, onDropped }: DeadLetterBounds & { readonly onDropped?: ((dropped: Dropped) => void) | undefined },
  options?: CallOptions,
): Promise<number> {
  const bounds = [max, maxAge].map((bound) => (bound === undefined ? "" : String(bound)));
  for (;;) {
    const { reply } = await evaluator.evaluate(script, script.keysIn(keys), [group, ...bounds], options);
    const [now, dropped, total, oldest] = asArray(reply, "trim");
    const ids = asArray(dropped, "trim: dropped").map((id) => asText(id, "trim: dropped id"));
    if (ids.length === 0) {
      const buriedAt = asBytes(oldest, "trim: oldest").length === 0 ? now : oldest;
      return asNumber(buriedAt, "trim: oldest") + (maxAge ?? Infinity);
    }
    onDropped?.({ ids, total: asNumber(total, "trim: total") });
  }
}
