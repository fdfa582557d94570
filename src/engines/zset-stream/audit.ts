import type { AuditReport } from "../../engine.js";
import type { Evaluator } from "../../scripting/script.js";
import { sequenceLength } from "../../scripting/message-body.js";
import type { Groups } from "./groups.js";
import type { SharedKeys } from "./keys.js";
import { auditCheck, mismatches, type Suspect } from "./scripts/audit-check.js";
import { scan, type WalkedKind } from "./scripts/scan.js";

/** Problems that one report tells at most; the others are looked for, and mended, all the same. */
const mostTold = 1_000;

/** A key that is walked. */
interface Walk {
  readonly key: string;
  readonly kind: WalkedKind;
  /** Which index it is, as `audit-check` takes it; empty for a hash. */
  readonly where: string;
}

/**
 * Looks at every entry of every key, in all groups. A page says only which ids there are; each is looked at by a script that sees
 * all of it at once, so work that goes on is never taken for a mistake. With `repair`, what is wrong is looked at again and
 * mended in the same script.
 */
export async function audit(
  evaluator: Evaluator,
  keys: SharedKeys,
  groups: Groups,
  { repair }: { readonly repair: boolean },
): Promise<AuditReport> {
  const problems = new Map<string, AuditReport["problems"][number]>();
  let checked = 0;
  // Makes sure that all groups are known before their keys are walked.
  await auditCheck(evaluator, groups, [{ id: Buffer.from("-"), where: "", found: nothing }], { repair: false });
  for (const { key, kind, where } of walks(keys, groups)) {
    for await (const members of scan(evaluator, { walked: key, queue: keys.queue }, kind)) {
      const suspects = members.map((member) => suspectOf(where, member));
      const answers = await auditCheck(evaluator, groups, suspects, { repair: false });
      checked += suspects.length;
      const wrong = suspects.filter((_, index) => answers[index]?.length !== 0);
      for (const [index, { id }] of suspects.entries()) {
        for (const problem of answers[index] ?? []) {
          // By what was found and of what: a walk may come by twice, and two walks by the same id.
          if (problems.size === mostTold) break;
          const told = { kind: problem, id: id.toString("utf8"), detail: mismatches[problem] };
          problems.set(`${problem} ${id.toString("hex")}`, told);
        }
      }
      if (repair && wrong.length > 0) await auditCheck(evaluator, groups, wrong, { repair });
    }
  }
  return { ok: problems.size === 0, problems: [...problems.values()], checked };
}

const nothing = Buffer.alloc(0);

/** Leases first, so that what is only half there has been ended before what has no index is looked at. */
function walks(keys: SharedKeys, groups: Groups): Walk[] {
  const own = groups.known().flatMap(({ name, keys: group }): Walk[] => [
    { key: group.leases, kind: "z", where: `l${name}` },
    { key: group.again, kind: "z", where: `a${name}` },
    { key: group.copies, kind: "h", where: "" },
    { key: group.dead, kind: "z", where: "" },
    { key: group.failures, kind: "h", where: "" },
  ]);
  return [
    ...own,
    { key: keys.schedule, kind: "z", where: "s" },
    { key: keys.stream, kind: "x", where: "x" },
    { key: keys.moved, kind: "h", where: "" },
    { key: keys.messages, kind: "m", where: "" },
  ];
}

function suspectOf(where: string, member: Buffer): Suspect {
  if (where === "") return { id: member, where, found: nothing };
  // An entry is its id, a space, and what the others are at once: sequence number and id.
  const cut = where === "x" ? member.indexOf(" ") : sequenceLength;
  const rest = where === "x" ? member.subarray(cut + 1 + sequenceLength) : member.subarray(cut);
  return { id: rest, where, found: member.subarray(0, cut) };
}
