import { sentenceOf } from "../demo/sentence.js";
import type { Connection } from "../src/clients/port.js";
import { MeasuringProcess } from "./measuring-process.js";
import { type Result, resultsOf } from "./results.js";
import type { Case, Found } from "./scenario.js";
import { turnsOf } from "./statistics.js";
import type { Subject } from "./subjects.js";
import { amount } from "./table.js";

/** What a benchmark is to do. */
export interface Plan {
  readonly cases: readonly Case[];
  readonly subjects: readonly Subject[];
  /** Runs of each case and subject, besides one that warms up. */
  readonly runs: number;
  /** How much of the work of a full run is done. */
  readonly scale: number;
  /** Whether punctual writes a CPU profile of each case. */
  readonly profile: boolean;
}

/** Where it runs, and who hears how far it is. */
export interface Surroundings {
  readonly url: string;
  readonly connection: Connection;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** How much of a full run warms up, unless a case says otherwise: enough to compile what is called often. */
const usualWarmUpScale = 0.15;

/** Measures every case on every subject that takes part, in turns, and gives the results in the order of the cases. */
export async function runPlan(plan: Plan, surroundings: Surroundings): Promise<Result[]> {
  const results: Result[] = [];
  for (const one of plan.cases) results.push(...(await runCase(one, plan, surroundings)));
  return results;
}

/** Who takes part in a case. */
export function partakers({ kinds, bare, leastPace = 0 }: Case, subjects: readonly Subject[]): readonly Subject[] {
  return subjects.filter(
    ({ kind, load, pace }) => kinds.includes(kind) && pace >= leastPace && (load !== undefined || bare !== undefined),
  );
}

/** Measures one case. A subject that fails at it is left out of its results, and the others go on. */
async function runCase(one: Case, plan: Plan, { url, connection, signal, say }: Surroundings): Promise<Result[]> {
  const started = performance.now();
  const processes = new Map<string, MeasuringProcess>();
  const found = new Map<string, Found[]>();
  let left = partakers(one, plan.subjects);
  // A run takes up to minutes: whoever interrupts it does not want to wait for its end.
  const release = () => {
    for (const measuring of processes.values()) measuring.release();
  };
  signal.addEventListener("abort", release);
  try {
    for (const { name } of left) {
      const profile = plan.profile && name === "punctual" ? `punctual-${one.name}.cpuprofile` : undefined;
      processes.set(name, new MeasuringProcess({ subject: name, case: one.name, url }, profile));
      found.set(name, []);
    }
    const warmUp = one.warmUpScale ?? usualWarmUpScale;
    const windows = one.windows === undefined ? 1 : plan.runs;
    const runs = plan.runs / windows;
    for (let run = one.isCold === true ? 1 : 0; run <= runs; run += 1) {
      const warmingUp = run === 0;
      for (const { name } of turnsOf(left, run)) {
        signal.throwIfAborted();
        try {
          const values = await processes.get(name)?.measure({ scale: warmingUp ? warmUp : plan.scale, windows });
          if (values === undefined || warmingUp) continue;
          found.get(name)?.push(...values);
          for (const [at, value] of values.entries()) {
            const told = one.figures.map((figure) => `${amount(value[figure.name] ?? NaN)} ${figure.unit}`).join(", ");
            say(`${one.name}, run ${run + at} of ${plan.runs}, ${name}: ${told}`);
          }
        } catch (error) {
          signal.throwIfAborted();
          say(`${sentenceOf(error)}. It is left out of this case.`);
          left = left.filter((subject) => subject.name !== name);
          found.delete(name);
        }
      }
    }
  } finally {
    signal.removeEventListener("abort", release);
    await Promise.all([...processes.values()].map((measuring) => measuring.close()));
    await connection.send(["FLUSHALL", "SYNC"]);
  }
  say(`${one.name} took ${amount((performance.now() - started) / 1_000)} s`);
  return resultsOf(one, found);
}
