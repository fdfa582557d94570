/** The program behind `npm run compare`. */
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { progressBar } from "../progress-bar.js";
import { demoScenario, type Scenario } from "../scenario.js";
import { sentenceOf } from "../sentence.js";
import { openBench } from "./bench.js";
import { openPage } from "./page.js";
import { comparisonTable, jsonComparison, latenessChart, markdownTable } from "./report.js";
import { type Comparison, type Crash, runSubject } from "./run-subject.js";
import { type Subject, subjects } from "./subjects.js";

const help = `Usage: npm run compare -- [options]

Runs one workload on every engine that processes can share, one after the other, on a private Redis or RabbitMQ: ${demoScenario.messages.toLocaleString("en")} messages with due times
spread over ${demoScenario.spread / 1_000} seconds, ${demoScenario.consumers} consumers, each a process. Then once more, with handlers that take 20 ms and one consumer
killed half-way: the table shows what each engine loses or repeats. RabbitMQ gets one in five of the messages.

Options:
  --engines <a,b>  only these (all)
  --many           instead of one, kills one consumer after the other at random, and starts another for each
  --messages <n>   how many messages, 1 to 1,000,000 (${demoScenario.messages})
  --seconds <s>    over how long their due times are spread, 0.1 to 600 (${demoScenario.spread / 1_000})
  --consumers <n>  how many processes consume, 1 to 100 (${demoScenario.consumers})
  --write <file>   puts the tables into a page as well, between <!-- compare --> and <!-- end -->
  --json           prints the figures as one JSON array, the last line on stdout, instead of the tables
  --help           prints this

Exit status: 0 each engine did what its kind promises, 1 one did not, 2 the comparison could not run.
`;

const titles: Readonly<Record<Crash, { readonly inProgress: string; readonly table: string }>> = {
  none: { inProgress: "", table: "While nobody crashes" },
  one: { inProgress: ", one consumer killed", table: "One of the consumers killed half-way" },
  many: { inProgress: ", consumers killed at random", table: "Consumers killed at random, and replaced" },
};

const interruption = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => interruption.abort(new Error("interrupted")));

/** The workload, without failures and cancellations, which not every engine can do. */
function scenarioOf({ messages, seconds, consumers }: Record<"messages" | "seconds" | "consumers", number>): Scenario {
  const spread = seconds * 1_000;
  return { ...demoScenario, messages, consumers, spread, lead: 4_000, failOneIn: 0, cancelOneIn: 0, lease: 2_000 };
}

/** The engines to run, and a sentence to stderr for each that is left out. */
async function chosen(names: string | undefined): Promise<readonly Subject[]> {
  const { subjects: all, withoutServer } = await subjects();
  if (names === undefined) {
    for (const name of withoutServer)
      console.error(`${name} is left out: it keeps messages in one process, which others cannot share.`);
    return all;
  }
  const wanted = names.split(",").map((name) => name.trim());
  const unknown = wanted.filter((name) => !all.some((one) => one.name === name));
  if (unknown.length === 0) return all.filter(({ name }) => wanted.includes(name));
  throw new Error(`There is no engine ${unknown.join(", ")}; there are ${all.map(({ name }) => name).join(", ")}.`);
}

/** What an engine must hold: nothing early, and of a crash either nothing lost or nothing twice. */
function isRight({ kind }: Subject, { crash, figures: { lost, duplicated, early } }: Comparison): boolean {
  if (early > 0) return false;
  if (crash === "none") return lost === 0 && duplicated === 0;
  return kind === "at most once" ? duplicated === 0 : lost === 0;
}

async function compare(list: readonly Subject[], scenario: Scenario, crashes: readonly Crash[]): Promise<Comparison[]> {
  await using bench = await openBench(new Set(list.map(({ server }) => server)));
  const { signal } = interruption;
  const done: Comparison[] = [];
  for (const crash of crashes) {
    for (const subject of list) {
      if (bench.urls[subject.server] === undefined) continue;
      const messages = Math.ceil(scenario.messages / subject.oneIn);
      const some = subject.oneIn > 1 ? `, one in ${subject.oneIn} of the messages` : "";
      console.error(`${subject.name}${titles[crash].inProgress}${some}`);
      const bar = progressBar(process.stderr);
      const onProgress = (ended: number) => bar.update({ messages, scheduled: messages, ended });
      try {
        done.push(await runSubject({ subject, scenario: { ...scenario, messages }, crash, bench, onProgress, signal }));
      } finally {
        bar.end();
      }
    }
  }
  return done;
}

function print(done: readonly Comparison[], crashes: readonly Crash[]): void {
  for (const crash of crashes) {
    const some = done.filter((one) => one.crash === crash);
    console.log(`\n${titles[crash].table}\n\n${comparisonTable(some)}`);
    if (crash === "none") console.log(`\n  99 of 100 deliveries are at most so late\n\n${latenessChart(some)}`);
  }
  console.log();
}

/** The tables for the page about them. */
function pageOf(done: readonly Comparison[], crashes: readonly Crash[], messages: number): string {
  const tables = crashes.map((crash) => {
    const some = done.filter((one) => one.crash === crash);
    return `${titles[crash].table}:\n\n${markdownTable(some)}`;
  });
  return [
    `${messages.toLocaleString("en")} messages, on Node ${process.versions.node} and ${cpus().length} processors.`,
    ...tables,
  ].join("\n\n");
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      engines: { type: "string" },
      messages: { type: "string", default: String(demoScenario.messages) },
      seconds: { type: "string", default: String(demoScenario.spread / 1_000) },
      consumers: { type: "string", default: String(demoScenario.consumers) },
      many: { type: "boolean", default: false },
      write: { type: "string" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  const messages = Number(values.messages);
  if (!/^\d+$/u.test(values.messages) || messages < 1 || messages > 1_000_000) {
    throw new Error(`--messages takes a whole number from 1 to 1000000, not "${values.messages}".`);
  }
  const seconds = Number(values.seconds);
  if (!(seconds >= 0.1 && seconds <= 600)) {
    throw new Error(`--seconds takes a number from 0.1 to 600, not "${values.seconds}".`);
  }
  const consumers = Number(values.consumers);
  if (!/^\d+$/u.test(values.consumers) || consumers < 1 || consumers > 100) {
    throw new Error(`--consumers takes a whole number from 1 to 100, not "${values.consumers}".`);
  }
  const list = await chosen(values.engines);
  const crashes: Crash[] = ["none", values.many ? "many" : "one"];
  // Before the run, which takes minutes.
  const page = values.write === undefined ? undefined : await openPage(values.write);
  const done = await compare(list, scenarioOf({ messages, seconds, consumers }), crashes);
  if (done.length === 0) throw new Error("There was no server for any of these engines.");
  await page?.write(pageOf(done, crashes, messages));
  if (values.json) console.log(JSON.stringify(done.map(jsonComparison)));
  else print(done, crashes);
  const wrong = list.filter((subject) => done.some((one) => one.subject === subject.name && !isRight(subject, one)));
  for (const { name } of wrong) console.error(`${name} did not do what its kind promises.`);
  return wrong.length === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(interruption.signal.aborted ? "Interrupted; everything is cleaned up." : `${sentenceOf(error)}.`);
  process.exitCode = interruption.signal.aborted ? 130 : 2;
}
