import type { Case, Scenario } from "./scenario.js";
import { bulkSchedule } from "./scenarios/bulk-schedule.js";
import { drain } from "./scenarios/drain.js";
import { singleCalls } from "./scenarios/single-calls.js";

/** Every scenario, in the order of the tables. */
export const scenarios: readonly Scenario[] = [bulkSchedule, singleCalls, drain];

/** A case by its name. */
export function caseNamed(name: string): Case {
  const found = scenarios.flatMap(({ cases }) => cases).find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no case "${name}".`);
  return found;
}
