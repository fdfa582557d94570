import { asArray, asNumber, asRows, asText } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { ReliableKeys } from "../reliable-keys.js";
import { sources } from "./sources.generated.js";

const script = defineScript("audit-page", sources["audit-page"], {
  keys: ["schedule", "ready", "messages", "standing", "leases", "dead", "hands", "state", "waiting"],
});

/** What can be wrong, and what a repair does about it. */
export const mismatches: Readonly<Record<string, string>> = {
  "waits-elsewhere": "It waits in the zset or the list, though it is elsewhere, too.",
  "lease-without-token": "Its lease has an end, and nobody holds it.",
  "dead-without-reason": "It is among the dead letters, and was not buried.",
  "message-without-place": "It is in no index, so nobody would deliver it.",
  "schedule-without-message": "The zset has an entry whose message is gone.",
  "ready-without-message": "The list has an entry whose message is gone.",
  "leases-without-message": "There is a lease whose message is gone.",
  "dead-without-message": "There is a dead letter whose message is gone.",
  "standing-without-message": "It is known what became of a message that is gone.",
};

/** The keys that are walked: entries first, so that a repair has removed what is wrong there before it looks for places. */
export const walked = ["schedule", "ready", "leases", "dead", "standing", "messages"] as const;

/** What one call found. */
export interface AuditPage {
  /** Where the next call goes on; "0" at the end. */
  readonly cursor: string;
  readonly checked: number;
  readonly problems: readonly { readonly id: string; readonly kind: string }[];
  /** Messages that are nowhere, unless in the hand of a consumer. */
  readonly unsure: readonly string[];
}

/** Looks at a page of one key. */
export async function auditPage(
  evaluator: Evaluator,
  keys: ReliableKeys,
  which: (typeof walked)[number],
  { cursor, repair }: { readonly cursor: string; readonly repair: boolean },
): Promise<AuditPage> {
  const args = [keys.channel, which, cursor, repair ? "1" : "0"];
  const { reply } = await evaluator.evaluate(script, script.keysIn(keys), args);
  const [, next, checked, problems, unsure] = asArray(reply, "audit-page");
  return {
    cursor: asText(next, "audit-page: cursor"),
    checked: asNumber(checked, "audit-page: checked"),
    problems: asRows(problems, 2, "audit-page: problems").map(([id, kind]) => ({
      id: asText(id, "audit-page: id"),
      kind: asText(kind, "audit-page: kind"),
    })),
    unsure: asArray(unsure, "audit-page: unsure").map((id) => asText(id, "audit-page: unsure")),
  };
}
