import type { QueueKeys } from "../keys.js";
import { asArray, asBytes, asText } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { sources } from "./sources.generated.js";

const script = defineScript("audit-scan", sources["audit-scan"], {
  keys: ["schedule", "messages", "leases", "leased", "failures", "dead", "state"],
  harmlessWhenLate: true,
});

/** A key whose members can be walked. */
export type Walkable = Exclude<(typeof script.keyNames)[number], "state">;

/**
 * The members of a key, in pages of bounded size; in a zset or hash, what is there from the first page to the last comes at
 * least once, whatever else comes and goes.
 */
export async function* auditScan(evaluator: Evaluator, keys: QueueKeys, which: Walkable): AsyncGenerator<Buffer[]> {
  const names = script.keysIn(keys);
  const place = String(script.keyNames.indexOf(which) + 1);
  let cursor = "0";
  do {
    const { reply } = await evaluator.evaluate(script, names, [place, cursor]);
    const [, next, members] = asArray(reply, "audit-scan");
    cursor = asText(next, "audit-scan: cursor");
    yield asArray(members, "audit-scan: members").map((member) => asBytes(member, "audit-scan: member"));
  } while (cursor !== "0");
}
