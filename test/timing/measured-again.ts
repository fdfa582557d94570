import type { Overrun } from "./measured-evaluator.js";

/** How often work is measured at most. */
const mostRounds = 3;

/**
 * What exceeds its budget, as text. `measure` does the work anew and gives what did then. Once may be the machine's doing: a script
 * exceeds its budget when it does so in every round.
 */
export async function overBudget(measure: () => Promise<readonly Overrun[]>): Promise<string[]> {
  let suspects: Set<string> | undefined;
  const told: string[] = [];
  for (let round = 1; round <= mostRounds; round++) {
    const over = (await measure()).filter(({ name }) => suspects?.has(name) ?? true);
    for (const { name, took, limit } of over) {
      told.push(`${name}: ${took.toFixed(1)} ms of ${limit.toFixed(1)} in round ${round}`);
    }
    suspects = new Set(over.map(({ name }) => name));
    if (suspects.size === 0) return [];
  }
  return told;
}
