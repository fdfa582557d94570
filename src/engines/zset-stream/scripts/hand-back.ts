import type { Burial, FailureRecord, Receipt, Release, Retry, Settlement } from "../../../engine.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { settle } from "../../../scripting/settle.js";
import { failureText } from "../../../scripting/failure-text.js";
import type { StreamKeys } from "../keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("hand-back", sources["hand-back"], {
  keys: ["stream", "queue", "leases", "again", "copies", "dead", "failures", "state", "waiting"],
  harmlessWhenLate: true,
});

/** The longest reason that is stored, UTF-16 units: its length in bytes has 16 bits. What is longer is cut. */
const longestReason = 16_000;

/** A lease that ends otherwise than by acknowledging. */
interface HandedBack extends Receipt {
  readonly verb: "t" | "l" | "b";
  readonly delay?: number | undefined;
  readonly reason?: string;
  readonly error?: FailureRecord | undefined;
}

/** Due again after a delay, one attempt used; dead when that was the last. */
export function retry(evaluator: Evaluator, keys: StreamKeys, group: string, retries: readonly Retry[]) {
  return handBack(
    evaluator,
    keys,
    group,
    retries.map((one) => ({ ...one, verb: "t" })),
  );
}

/** Due again, no attempt used; without a delay in its old place. */
export function release(evaluator: Evaluator, keys: StreamKeys, group: string, releases: readonly Release[]) {
  return handBack(
    evaluator,
    keys,
    group,
    releases.map((one) => ({ ...one, verb: "l" })),
  );
}

/** Dead, for this group; the delivery counts as an attempt. */
export function bury(evaluator: Evaluator, keys: StreamKeys, group: string, burials: readonly Burial[]) {
  return handBack(
    evaluator,
    keys,
    group,
    burials.map((one) => ({ ...one, verb: "b" })),
  );
}

async function handBack(
  evaluator: Evaluator,
  keys: StreamKeys,
  group: string,
  items: readonly HandedBack[],
): Promise<Settlement[]> {
  return await settle(evaluator, items, {
    script,
    keys: script.keysIn(keys),
    args: [group, keys.channel],
    itemArgs: ({ verb, delay, reason = "", error }) => [
      verb,
      delay === undefined ? "" : String(delay),
      reason.slice(0, longestReason),
      Buffer.from(failureText(error)),
    ],
  });
}
