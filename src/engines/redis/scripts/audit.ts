import type { AuditReport } from "../../../engine.js";
import type { QueueKeys } from "../keys.js";
import { sequenceLength } from "../../../scripting/message-body.js";
import type { Evaluator } from "../../../scripting/script.js";
import { auditCheck, mismatches, type Suspect } from "./audit-check.js";
import { auditScan, type Walkable } from "./audit-scan.js";
import { auditSizes, misfit } from "./audit-sizes.js";

/** Problems that one report tells at most; the others are looked for, and mended, all the same. */
const mostTold = 1_000;

/** In this order, so that a repair has ended the leases that are only half there before it looks at what has no index. */
const walked = ["leases", "leased", "schedule", "dead", "messages", "failures"] as const satisfies readonly Walkable[];

/**
 * Compares sizes first, in one moment, then looks at every entry of every key. A page says only which ids there are; each is
 * looked at by a script that sees all of it at once, so work that goes on is never taken for a mistake.
 */
export async function audit(evaluator: Evaluator, keys: QueueKeys): Promise<AuditReport> {
  return await walk(evaluator, keys, async () => undefined);
}

/**
 * Does what `audit` does, and has what is wrong looked at again and mended in the same script. What a page finds is known
 * before anything is mended, so a reply that is lost afterwards hides no problem.
 */
export async function repair(evaluator: Evaluator, keys: QueueKeys): Promise<AuditReport> {
  return await walk(evaluator, keys, async (wrong) => {
    await auditCheck(evaluator, keys, wrong, { repair: true });
  });
}

async function walk(
  evaluator: Evaluator,
  keys: QueueKeys,
  mend: (wrong: readonly Suspect[]) => Promise<void>,
): Promise<AuditReport> {
  const doubt = misfit(await auditSizes(evaluator, keys));
  // By what was found and where: a walk may come by twice, and two walks by the same id.
  const problems = new Map<string, AuditReport["problems"][number]>();
  let checked = 0;
  for (const which of walked) {
    for await (const members of auditScan(evaluator, keys, which)) {
      const suspects = members.map((member) => suspectOf(which, member));
      const answers = await auditCheck(evaluator, keys, suspects, { repair: false });
      checked += suspects.length;
      const wrong = suspects.filter((suspect, index) => {
        for (const kind of answers[index] ?? []) {
          const problem = { kind, id: suspect.id.toString("utf8"), detail: mismatches[kind] };
          const sequence = kind.startsWith("schedule-") ? suspect.sequence.toString("hex") : "";
          if (problems.size < mostTold) problems.set([kind, sequence, suspect.id.toString("hex")].join(" "), problem);
        }
        return answers[index]?.length !== 0;
      });
      if (wrong.length > 0) await mend(wrong);
    }
  }
  // Whatever made them differ was over before the walk came by.
  if (doubt !== undefined && problems.size === 0) problems.set("", { kind: "sizes-differ", id: "", detail: doubt });
  return { ok: problems.size === 0, problems: [...problems.values()], checked };
}

function suspectOf(which: Walkable, member: Buffer): Suspect {
  if (which !== "schedule") return { id: member, sequence: member.subarray(0, 0) };
  return { id: member.subarray(sequenceLength), sequence: member.subarray(0, sequenceLength) };
}
