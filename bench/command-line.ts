import { parseArgs } from "node:util";
import type { Case, Scenario } from "./scenario.js";
import { caseNamed, scenarios } from "./scenarios.js";
import { smokeCases, smokeRuns, smokeScale, smokeSubjects } from "./smoke.js";
import { type Subject, subjectNamed, subjects } from "./subjects.js";

/** What the command line asks for. */
export interface CommandLine {
  readonly help: boolean;
  readonly cases: readonly Case[];
  readonly subjects: readonly Subject[];
  readonly runs: number;
  readonly json: string | undefined;
  /** Files that `json` wrote, to take the results from instead of measuring; none: it measures. */
  readonly from: readonly string[];
  /** A page to put tables and charts into. */
  readonly write: string | undefined;
  readonly profile: boolean;
  /** How much of a full run is done. */
  readonly scale: number;
  /** `keep`: keeps the ratios for smoke runs to come. */
  readonly smoke: "compare" | "keep" | undefined;
}

/** Fewer make no median that says much. */
const usualRuns = 5;

/** What is left out unless it is named. */
const onlyNamed = scenarios
  .flatMap(({ cases }) => cases)
  .filter((one) => one.isOnlyNamed === true)
  .map(({ name }) => name)
  .join(", ");

export const help = `Usage: npm run bench -- [options]

Measures punctual, its peers and bare Redis side by side, on a private Redis that it starts. In each run the subjects take
turns; the tables show median, least and most of all runs, and how many times as good punctual is. Progress goes to stderr.
Run it on a machine that does nothing else.

Without options it takes about 40 minutes and 2 GB of memory on two processors. ${onlyNamed} needs over 3 GB and some
minutes more: it is measured only when --only has its own name.

Options:
  --only <a,b>      only these scenarios or cases (all but ${onlyNamed})
  --subjects <a,b>  only these subjects (all that take part in a case)
  --runs <n>        runs of each case and subject, 1 to 100, besides one that warms up (${usualRuns})
  --json <file>     writes everything that was found
  --write <page>    puts tables into a page, between <!-- bench --> and <!-- end -->, and charts into a folder beside it that
                    is called like the page
  --from <file>     takes what --json wrote instead of measuring: for --write, and for the tables; of several, --from a --from b,
                    all together; not with --only, --subjects, --runs or --profile
  --profile         writes CPU profiles of punctual, punctual-<case>.cpuprofile; they slow it down
  --smoke           in under a minute, ${smokeCases.join(", ")} of ${smokeSubjects.join(", ")}: fails when a
                    ratio is under half of the one in bench/guard.json, twice in a row; takes --keep and --runs only
  --smoke --keep    keeps the ratios in bench/guard.json instead; with more --runs they are worth more
  --help            prints this

Scenarios, and their cases:
${scenarios.map(({ name, title, cases }) => `  ${name.padEnd(16)}${title}: ${cases.map((one) => one.name).join(", ")}`).join("\n")}

Subjects: ${subjects.map(({ name }) => name).join(", ")}

Exit status: 0 all was measured, 1 a subject failed at a case or a ratio has fallen, 2 the benchmark could not run.
`;

/** Reads the arguments after the name of the program. Throws an error with a sentence. */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string" },
      subjects: { type: "string" },
      runs: { type: "string" },
      json: { type: "string" },
      from: { type: "string", multiple: true },
      write: { type: "string" },
      profile: { type: "boolean" },
      smoke: { type: "boolean" },
      keep: { type: "boolean" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const runs = values.runs === undefined ? undefined : wholeRuns(values.runs);
  const { help: wantsHelp, json, from = [], write, profile = false, smoke = false, keep = false } = values;
  const given = (names: readonly (keyof typeof values)[]) =>
    names
      .filter((name) => values[name] !== undefined)
      .map((name) => `--${name}`)
      .join(", ");
  if (!smoke) {
    if (keep) throw new Error("--keep keeps the ratios of a smoke run: it needs --smoke");
    const unmeasured = from.length === 0 ? "" : given(["only", "subjects", "runs", "profile"]);
    if (unmeasured.length > 0) {
      throw new Error(`--from measures nothing and takes all of its files: leave out ${unmeasured}`);
    }
    return {
      help: wantsHelp,
      json,
      from,
      write,
      profile,
      runs: runs ?? usualRuns,
      scale: 1,
      smoke: undefined,
      cases: casesNamed(values.only, scenarios),
      subjects: values.subjects === undefined ? subjects : namesIn(values.subjects).map(subjectNamed),
    };
  }
  const foreign = given(["only", "subjects", "json", "from", "write", "profile"]);
  if (foreign.length > 0) {
    throw new Error(`--smoke has its own cases and subjects and only compares or keeps: leave out ${foreign}`);
  }
  return {
    help: wantsHelp,
    json: undefined,
    from: [],
    write: undefined,
    profile: false,
    runs: runs ?? smokeRuns,
    scale: smokeScale,
    smoke: keep ? "keep" : "compare",
    cases: smokeCases.map(caseNamed),
    subjects: smokeSubjects.map(subjectNamed),
  };
}

function wholeRuns(text: string): number {
  const runs = Number(text);
  if (/^\d+$/u.test(text) && runs >= 1 && runs <= 100) return runs;
  throw new Error(`--runs takes a whole number from 1 to 100, not "${text}".`);
}

/** The cases of scenarios or cases by their names, in the order of the tables; without names, all that need not be named. */
export function casesNamed(names: string | undefined, all: readonly Scenario[]): readonly Case[] {
  const every = all.flatMap(({ name, cases }) => cases.map((one) => ({ scenario: name, one })));
  const isUsual = ({ isOnlyNamed = false }: Case) => !isOnlyNamed;
  if (names === undefined) return every.map(({ one }) => one).filter(isUsual);
  const wanted = namesIn(names);
  const unknown = wanted.filter((name) => !every.some(({ scenario, one }) => name === scenario || name === one.name));
  if (unknown.length > 0) {
    const known = all.map(({ name }) => name).join(", ");
    throw new Error(`There is no scenario or case "${unknown.join(", ")}"; the scenarios are ${known}.`);
  }
  return every
    .filter(({ scenario, one }) => (wanted.includes(scenario) && isUsual(one)) || wanted.includes(one.name))
    .map(({ one }) => one);
}

function namesIn(list: string): string[] {
  return list.split(",").map((name) => name.trim());
}
