import type { Queue } from "../src/index.js";
import type { Ledger } from "./ledger.js";
import type { Plan } from "./scenario.js";

/** What a message of the workload carries. */
export interface Task {
  readonly number: number;
}

/** How many messages go into one call of scheduleMany, and how many such calls are under way. */
const batchSize = 1_000;
const batchesInFlight = 4;

/** Schedules all messages of a plan, a few batches at a time, and notes which were confirmed. When `signal` aborts it stops. */
export async function produce(tasks: Queue<Task>, plan: Plan, ledger: Ledger, signal: AbortSignal): Promise<void> {
  const messages = plan.dueAt.length;
  let next = 0;
  const producer = async () => {
    while (next < messages && !signal.aborted) {
      const first = next;
      next = Math.min(messages, first + batchSize);
      const batch = Array.from({ length: next - first }, (_, index) => newTask(plan, first + index));
      const results = await tasks.scheduleMany(batch);
      results.forEach((_, index) => ledger.confirm(first + index));
    }
  };
  await Promise.all(Array.from({ length: batchesInFlight }, producer));
}

function newTask(plan: Plan, number: number) {
  return { payload: { number }, id: String(number), at: plan.dueAt[number] ?? 0 };
}
