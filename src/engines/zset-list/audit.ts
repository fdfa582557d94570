import type { AuditReport } from "../../engine.js";
import type { Evaluator } from "../../scripting/script.js";
import type { ReliableKeys } from "./reliable-keys.js";
import { auditPage, mismatches, walked } from "./scripts/audit-page.js";
import { emptyHands } from "./scripts/hands.js";

/** Problems that one report tells at most; the others are looked for, and mended, all the same. */
const mostTold = 1_000;

/** How often the hands are emptied for a message that is nowhere. One that is popped again each time is on its way. */
const sweeps = 5;

/**
 * Looks at every entry of every key, a page at a time; each page sees all of a message in one moment, so work that goes on is not
 * taken for a mistake. A message that is nowhere may be in the hand of a consumer: what is in hands is put back, which does no
 * harm, and it is looked for again.
 */
export async function audit(evaluator: Evaluator, keys: ReliableKeys, repair: boolean): Promise<AuditReport> {
  const found = new Map<string, AuditReport["problems"][number]>();
  let checked = 0;
  const walk = async (which: (typeof walked)[number], counts: boolean): Promise<readonly string[]> => {
    const unsure: string[] = [];
    let cursor = "0";
    do {
      const page = await auditPage(evaluator, keys, which, { cursor, repair });
      cursor = page.cursor;
      if (counts) checked += page.checked;
      unsure.push(...page.unsure);
      for (const { id, kind } of page.problems) {
        if (found.size < mostTold) found.set(`${kind} ${id}`, { kind, id, detail: mismatches[kind] ?? kind });
      }
    } while (cursor !== "0");
    return unsure;
  };
  for (const which of walked) {
    let unsure = await walk(which, true);
    for (let again = 0; unsure.length > 0 && again < sweeps; again++) {
      await emptyHands(evaluator, keys);
      unsure = await walk(which, false);
    }
  }
  return { ok: found.size === 0, problems: [...found.values()], checked };
}
