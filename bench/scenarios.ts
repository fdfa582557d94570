import type { Case, Scenario } from "./scenario.js";
import { bulkSchedule } from "./scenarios/bulk-schedule.js";
import { burst } from "./scenarios/burst.js";
import { consumers } from "./scenarios/consumers.js";
import { cost } from "./scenarios/cost.js";
import { drain } from "./scenarios/drain.js";
import { dueAtOnce } from "./scenarios/due-at-once.js";
import { growth } from "./scenarios/growth.js";
import { idle } from "./scenarios/idle.js";
import { lateness } from "./scenarios/lateness.js";
import { memory } from "./scenarios/memory.js";
import { singleCalls } from "./scenarios/single-calls.js";

/** Every scenario, in the order of the tables. */
export const scenarios: readonly Scenario[] = [
  bulkSchedule,
  singleCalls,
  drain,
  lateness,
  burst,
  memory,
  cost,
  idle,
  growth,
  dueAtOnce,
  consumers,
];

/** A case by its name. */
export function caseNamed(name: string): Case {
  const found = scenarios.flatMap(({ cases }) => cases).find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no case "${name}".`);
  return found;
}
