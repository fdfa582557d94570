/** The program behind `npm run bench`. */
import { sentenceOf } from "../demo/sentence.js";
import { nodeRedis } from "../src/clients/node-redis.js";
import { startRedisServer } from "../src/testing/redis-server.js";
import { type CommandLine, help, parseCommandLine } from "./command-line.js";
import { ratiosOf } from "./guard.js";
import { keepRatios, keptRatios } from "./guard-file.js";
import { joined } from "./joined.js";
import { openPage } from "./page.js";
import { circumstancesOf, type Results, versionLine } from "./results.js";
import { asKept, keepResults, keptResults } from "./results-file.js";
import { partakers, runPlan, type Surroundings } from "./run.js";
import { caseNamed } from "./scenarios.js";
import { fallenWhenMeasured, sentenceAbout } from "./smoke.js";
import { textTables } from "./table.js";

/** What `--help` says about the exit status. */
const exitStatus = { done: 0, incomplete: 1, cannotRun: 2, interrupted: 130 };

const interruption = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => interruption.abort(new Error("interrupted")));

const say = (line: string) => void process.stderr.write(`${line}\n`);

/** Starts a Redis, measures on it what it is told to, and ends it. */
async function onPrivateRedis<Outcome>(work: (surroundings: Surroundings) => Promise<Outcome>): Promise<Outcome> {
  await using server = await startRedisServer();
  const { url } = server;
  const connection = await nodeRedis({ url }).connect(3_000);
  try {
    return await work({ url, connection, signal: interruption.signal, say });
  } finally {
    connection.destroy();
  }
}

/** Measures everything that was asked for. */
async function measureAll(line: CommandLine): Promise<Results> {
  return onPrivateRedis(async (surroundings) => {
    const circumstances = await circumstancesOf(surroundings.connection, line.subjects);
    say(versionLine(circumstances.versions));
    return { ...circumstances, runs: line.runs, results: await runPlan(line, surroundings) };
  });
}

/** Measures, or reads what was measured, and tells it. */
async function runAll(line: CommandLine): Promise<number> {
  // Before the run, which takes long.
  const page = line.write === undefined ? undefined : await openPage(line.write);
  const found =
    line.from.length === 0 ? asKept(await measureAll(line)) : joined(await Promise.all(line.from.map(keptResults)));
  process.stdout.write(`\n${versionLine(found.versions)}\n\n${textTables(found.results)}\n`);
  if (line.json !== undefined) await keepResults(line.json, found);
  await page?.write(found);
  if (line.from.length > 0) return exitStatus.done;
  if (!isComplete(line, found)) {
    if (line.smoke === "keep") say("No ratio is kept, since a subject failed.");
    return exitStatus.incomplete;
  }
  if (line.smoke === "keep") await keepRatios(ratiosOf(found.results));
  return exitStatus.done;
}

/** Whether every subject that takes part in a case has a figure there. */
function isComplete({ cases, subjects }: CommandLine, { results }: Results): boolean {
  return cases.every((one) => {
    const measured = results.find((result) => result.case === one.name)?.subjects ?? {};
    return partakers(one, subjects).every(({ name }) => name in measured);
  });
}

/** Measures whether punctual has become slow. */
async function compareWithKept(line: CommandLine): Promise<number> {
  const kept = await keptRatios();
  const fallen = await onPrivateRedis((surroundings) => {
    const measure = (cases: readonly string[]) => runPlan({ ...line, cases: cases.map(caseNamed) }, surroundings);
    return fallenWhenMeasured(measure, kept, say);
  });
  for (const one of fallen) process.stdout.write(`${sentenceAbout(one)}\n`);
  if (fallen.length === 0) process.stdout.write("No ratio is under half of what it was.\n");
  return fallen.length === 0 ? exitStatus.done : exitStatus.incomplete;
}

async function main(): Promise<number> {
  const line = parseCommandLine(process.argv.slice(2));
  if (line.help) {
    process.stdout.write(help);
    return exitStatus.done;
  }
  return line.smoke === "compare" ? compareWithKept(line) : runAll(line);
}

try {
  process.exitCode = await main();
} catch (error) {
  const wasInterrupted = interruption.signal.aborted;
  process.exitCode = wasInterrupted ? exitStatus.interrupted : exitStatus.cannotRun;
  say(wasInterrupted ? "Interrupted; everything is cleaned up." : `${sentenceOf(error)}. See npm run bench -- --help.`);
}
