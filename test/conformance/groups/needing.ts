import { audits } from "./audits.js";
import { deadLetters } from "./dead-letters.js";
import { ids } from "./ids.js";
import { leases } from "./leases.js";
import { lists } from "./lists.js";
import type { Group, Need } from "./needs.js";
import { order } from "./order.js";
import { waking } from "./waking.js";

/** Every case that several engines deviate in stands in one of these groups, once. */
export const groups: readonly Group[] = [ids, lists, deadLetters, leases, order, waking, audits].flat();

/** The cases that need all of this, by name. */
export function needing(...needs: readonly [Need, ...Need[]]): readonly string[] {
  return groups.filter((group) => needs.every((need) => group.needs.includes(need))).flatMap(({ cases }) => cases);
}
