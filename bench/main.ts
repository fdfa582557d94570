/** The program behind `npm run bench`. */
import { writeFile } from "node:fs/promises";
import { sentenceOf } from "../demo/sentence.js";
import { nodeRedis } from "../src/clients/node-redis.js";
import { startRedisServer } from "../src/testing/redis-server.js";
import { type CommandLine, help, parseCommandLine } from "./command-line.js";
import { circumstancesOf, type Results } from "./results.js";
import { partakers, runPlan } from "./run.js";
import { textTables } from "./table.js";

/** What `--help` says about the exit status. */
const exitStatus = { done: 0, incomplete: 1, cannotRun: 2, interrupted: 130 };

const interruption = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => interruption.abort(new Error("interrupted")));

const say = (line: string) => void process.stderr.write(`${line}\n`);

async function measure({ cases, subjects, runs, profile }: CommandLine): Promise<Results> {
  await using server = await startRedisServer();
  const { url } = server;
  const connection = await nodeRedis({ url }).connect(3_000);
  try {
    const circumstances = await circumstancesOf(connection, subjects);
    say(versionLine(circumstances.versions));
    const surroundings = { url, connection, signal: interruption.signal, say };
    const results = await runPlan({ cases, subjects, runs, scale: 1, profile }, surroundings);
    return { ...circumstances, runs, results };
  } finally {
    connection.destroy();
  }
}

function versionLine(versions: Readonly<Record<string, string>>): string {
  return Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(", ");
}

async function main(): Promise<number> {
  const line = parseCommandLine(process.argv.slice(2));
  if (line.help) {
    process.stdout.write(help);
    return exitStatus.done;
  }
  const results = await measure(line);
  process.stdout.write(`\n${versionLine(results.versions)}\n\n${textTables(results.results)}\n`);
  if (line.json !== undefined) await writeFile(line.json, `${JSON.stringify(results, undefined, 2)}\n`);
  const isComplete = line.cases.every((one) => {
    const measured = results.results.find((result) => result.case === one.name)?.subjects ?? {};
    return partakers(one, line.subjects).every(({ name }) => name in measured);
  });
  return isComplete ? exitStatus.done : exitStatus.incomplete;
}

try {
  process.exitCode = await main();
} catch (error) {
  const wasInterrupted = interruption.signal.aborted;
  process.exitCode = wasInterrupted ? exitStatus.interrupted : exitStatus.cannotRun;
  say(wasInterrupted ? "Interrupted; everything is cleaned up." : `${sentenceOf(error)}. See npm run bench -- --help.`);
}
