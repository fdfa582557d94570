/** The program behind `npm run demo`. */
import { PunctualError } from "../src/errors.js";
import { CannotRun, chooseEngine } from "./chosen-engine.js";
import { help, parseCommandLine } from "./command-line.js";
import { progressBar } from "./progress-bar.js";
import { isClean, jsonReport, textReport } from "./report.js";
import { type Scenario, warmUpOf } from "./scenario.js";
import { sentenceOf } from "./sentence.js";
import { runWorkload } from "./workload.js";

/** What `--help` says about the exit status. */
const exitStatus = { clean: 0, unclean: 1, cannotRun: 2, interrupted: 130 };

/** How long an interrupted run may take to clean up before it ends without, ms. */
const cleanUpLimit = 8_000;

const interruption = new AbortController();

/** The first signal ends the run in good order. npm hands on what the terminal has sent already, so a second one means nothing. */
function interrupt(): void {
  if (interruption.signal.aborted) return;
  interruption.abort(new Error("interrupted"));
  setTimeout(() => process.exit(exitStatus.interrupted), cleanUpLimit).unref();
}

async function runDemo(scenario: Scenario, json: boolean): Promise<number> {
  const { signal } = interruption;
  const say = json ? console.error : console.log;
  const chosen = await chooseEngine(process.env["REDIS_URL"]);
  const bar = progressBar(process.stderr);
  let errors = 0;
  try {
    say(chosen.reason);
    const { engine } = chosen;
    const shared = {
      engine,
      now: () => chosen.now(),
      signal,
      onError(error: unknown) {
        errors += 1;
        if (errors > 1) return;
        bar.end();
        console.error(`A consumer reports: ${sentenceOf(error)}.`);
      },
    };
    const warmUp = await runWorkload({ ...shared, queue: chosen.warmUpQueue, scenario: warmUpOf(scenario) });
    if (!isClean(warmUp)) throw new CannotRun(`The warm-up went wrong:\n${textReport(engine.name, warmUp)}`);
    const figures = await runWorkload({
      ...shared,
      queue: chosen.queue,
      scenario,
      onProgress: (progress) => bar.update(progress),
    });
    bar.end();
    console.log(json ? JSON.stringify(jsonReport(engine.name, figures)) : `\n${textReport(engine.name, figures)}`);
    if (!isClean(figures)) console.error(`Not every message came to its end once and in time. Seed: ${scenario.seed}.`);
    return isClean(figures) ? exitStatus.clean : exitStatus.unclean;
  } catch (error) {
    if (!(error instanceof PunctualError)) throw error;
    // Said here: cleaning up meets the same fault, and would say only that.
    bar.end();
    console.error(`The demo stopped before its end: ${sentenceOf(error)}.`);
    return exitStatus.cannotRun;
  } finally {
    bar.end();
    await chosen.leave();
  }
}

async function main(): Promise<number> {
  const line = parseCommandLine(process.argv.slice(2));
  switch (line.wants) {
    case "help":
      process.stdout.write(help);
      return exitStatus.clean;
    case "refusal":
      console.error(line.sentence);
      return exitStatus.cannotRun;
    case "run":
      return runDemo(line.scenario, line.json);
  }
}

process.on("SIGINT", interrupt);
process.on("SIGTERM", interrupt);
try {
  process.exitCode = await main();
} catch (error) {
  const wasInterrupted = interruption.signal.aborted;
  process.exitCode = wasInterrupted ? exitStatus.interrupted : exitStatus.cannotRun;
  if (error === interruption.signal.reason) console.error("Interrupted; everything is cleaned up.");
  else console.error(error instanceof CannotRun ? error.message : error);
}
