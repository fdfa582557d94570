import { cpus, totalmem, type as systemType, release } from "node:os";
import type { Connection } from "../src/clients/port.js";
import type { Case, Figure } from "./scenario.js";
import { ratioOf, type Summary, summaryOf } from "./statistics.js";
import { type Subject, versionsOf } from "./subjects.js";

/** A figure of one case, for every subject that took part. */
export interface Result {
  readonly case: string;
  readonly title: string;
  readonly figure: Figure;
  /** By the names of subjects, in the order of the tables. */
  readonly subjects: Readonly<Record<string, Summary>>;
  /** How many times as good punctual is as each of the others, by the medians; left out where one of them is 0 and it means nothing. */
  readonly ratios: Readonly<Record<string, number>>;
}

/** Everything that a run of the benchmark tells; what `--json` writes and the page is made of. */
export interface Results {
  readonly date: string;
  readonly machine: {
    readonly processors: number;
    readonly model: string;
    readonly memoryGiB: number;
    readonly system: string;
  };
  readonly versions: Readonly<Record<string, string>>;
  readonly setUps: Readonly<Record<string, string>>;
  /** Runs of each case and subject, besides one that warms up. */
  readonly runs: number;
  readonly results: readonly Result[];
}

/** The results of one case, from what each run of each subject found. */
export function resultsOf(
  { name, title, figures }: Pick<Case, "name" | "title" | "figures">,
  found: ReadonlyMap<string, readonly Readonly<Record<string, number>>[]>,
): Result[] {
  return figures.map((figure) => {
    const subjects = Object.fromEntries(
      [...found].map(([subject, runs]) => [subject, summaryOf(runs.map((run) => valueOf(run, figure.name)))]),
    );
    const ours = subjects["punctual"];
    const others = Object.entries(subjects).filter(([subject]) => subject !== "punctual");
    const ratios =
      ours === undefined
        ? {}
        : Object.fromEntries(
            others
              .filter(([, { median }]) => median !== 0 && ours.median !== 0)
              .map(([subject, { median }]) => [subject, ratioOf(ours.median, median, figure.better)]),
          );
    return { case: name, title, figure, subjects, ratios };
  });
}

function valueOf(run: Readonly<Record<string, number>>, name: string): number {
  const value = run[name];
  if (value === undefined) throw new TypeError(`A run found no ${name}.`);
  return value;
}

/** Where and with what the benchmark ran. */
export async function circumstancesOf(
  connection: Connection,
  subjects: readonly Subject[],
): Promise<Omit<Results, "runs" | "results">> {
  const [processor] = cpus();
  const server = String(await connection.send(["INFO", "server"]));
  return {
    date: new Date().toISOString(),
    machine: {
      processors: cpus().length,
      model: processor?.model ?? "unknown",
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      system: `${systemType()} ${release()}`,
    },
    versions: { redis: /^redis_version:(\S+)/mu.exec(server)?.[1] ?? "unknown", ...versionsOf(subjects) },
    setUps: Object.fromEntries(subjects.map(({ name, setUp }) => [name, setUp])),
  };
}

/** All versions in one line. */
export function versionLine(versions: Results["versions"]): string {
  return Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(", ");
}
