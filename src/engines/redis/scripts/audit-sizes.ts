import type { QueueKeys } from "../keys.js";
import { asArray, asNumber } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import { sources } from "./sources.generated.js";

const script = defineScript("audit-sizes", sources["audit-sizes"], {
  keys: ["schedule", "messages", "leases", "leased", "failures", "dead", "state"],
  harmlessWhenLate: true,
});

/** How many entries each key had in one moment. */
export interface Sizes {
  readonly schedule: number;
  readonly messages: number;
  readonly leases: number;
  readonly leased: number;
  readonly failures: number;
  readonly dead: number;
}

export async function auditSizes(evaluator: Evaluator, keys: QueueKeys): Promise<Sizes> {
  const names = script.keysIn(keys);
  const { reply } = await evaluator.evaluate(script, names, []);
  const [, schedule, messages, leases, leased, failures, dead] = asArray(reply, "audit-sizes");
  return {
    schedule: asNumber(schedule, "audit-sizes: schedule"),
    messages: asNumber(messages, "audit-sizes: messages"),
    leases: asNumber(leases, "audit-sizes: leases"),
    leased: asNumber(leased, "audit-sizes: leased"),
    failures: asNumber(failures, "audit-sizes: failures"),
    dead: asNumber(dead, "audit-sizes: dead"),
  };
}

/** What is wrong with the sizes, if anything. That they fit proves nothing: two mistakes may make up for each other. */
export function misfit({ schedule, messages, leases, leased, failures, dead }: Sizes): string | undefined {
  const indexed = schedule + leases + dead;
  if (messages !== indexed) return `There were ${messages} messages, but ${indexed} entries in the indexes.`;
  if (leased !== leases) return `There were ${leases} leases, but ${leased} entries in the fence.`;
  if (failures > messages) return `There were ${failures} records of failures, but only ${messages} messages.`;
  return undefined;
}
