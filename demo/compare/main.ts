/** The program behind `npm run compare`. */
import { parseArgs } from "node:util";
import { nodeRedis } from "../../src/clients/node-redis.js";
import { startRedisServer } from "../../src/testing/redis-server.js";
import { progressBar } from "../progress-bar.js";
import { demoScenario, type Scenario } from "../scenario.js";
import { sentenceOf } from "../sentence.js";
import { followServerTime } from "../server-time.js";
import { comparisonTable, jsonComparison, latenessChart } from "./report.js";
import { type Comparison, type Crash, runSubject } from "./run-subject.js";
import { deliversAtMostOnce, type Subject, subjects } from "./subjects.js";

const help = `Usage: npm run compare -- [options]

Runs one workload on every engine that has a Redis, one after the other, on a private Redis: ${demoScenario.messages.toLocaleString("en")} messages with due times
spread over ${demoScenario.spread / 1_000} seconds, ${demoScenario.consumers} consumers, each a process. Then once more, with handlers that take 20 ms and one consumer
killed half-way: the table shows what each engine loses or repeats.

Options:
  --engines <a,b>  only these (all)
  --many           instead of one, kills one consumer after the other at random, and starts another for each
  --messages <n>   how many messages, 1 to 1,000,000 (${demoScenario.messages})
  --json           prints the figures as one JSON array, the last line on stdout, instead of the tables
  --help           prints this

Exit status: 0 each engine did what its kind promises, 1 one did not, 2 the comparison could not run.
`;

const titles: Readonly<Record<Crash, { readonly inProgress: string; readonly table: string }>> = {
  none: { inProgress: "", table: "While nobody crashes" },
  one: { inProgress: ", one consumer killed", table: `One of ${demoScenario.consumers} consumers killed half-way` },
  many: { inProgress: ", consumers killed at random", table: "Consumers killed at random, and replaced" },
};

const interruption = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => interruption.abort(new Error("interrupted")));

/** The workload, without failures and cancellations, which not every engine can do. */
function scenarioOf(messages: number): Scenario {
  return { ...demoScenario, messages, lead: 4_000, failOneIn: 0, cancelOneIn: 0, lease: 2_000 };
}

async function chosen(names: string | undefined): Promise<Subject[]> {
  const all = await subjects();
  if (names === undefined) return all;
  const wanted = names.split(",");
  const unknown = wanted.filter((name) => !all.some((one) => one.name === name));
  if (unknown.length === 0) return all.filter(({ name }) => wanted.includes(name));
  throw new Error(`There is no engine ${unknown.join(", ")}; there are ${all.map(({ name }) => name).join(", ")}.`);
}

/** What an engine must hold: nothing early, and of a crash either nothing lost or nothing twice. */
function isRight(subject: Subject, { crash, figures: { lost, duplicated, early } }: Comparison): boolean {
  if (early > 0) return false;
  if (crash === "none") return lost === 0 && duplicated === 0;
  return deliversAtMostOnce(subject) ? duplicated === 0 : lost === 0;
}

async function compare(list: readonly Subject[], scenario: Scenario, crashes: readonly Crash[]): Promise<Comparison[]> {
  await using server = await startRedisServer();
  const connection = await nodeRedis({ url: server.url }).connect(3_000);
  const time = await followServerTime(connection);
  const bench = { url: server.url, connection, time };
  const { signal } = interruption;
  const done: Comparison[] = [];
  try {
    for (const crash of crashes) {
      for (const subject of list) {
        console.error(`${subject.name}${titles[crash].inProgress}`);
        const bar = progressBar(process.stderr);
        const { messages } = scenario;
        const onProgress = (ended: number) => bar.update({ messages, scheduled: messages, ended });
        try {
          done.push(await runSubject({ subject, scenario, crash, bench, onProgress, signal }));
        } finally {
          bar.end();
        }
      }
    }
    return done;
  } finally {
    time.stop();
    connection.destroy();
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      engines: { type: "string" },
      messages: { type: "string", default: String(demoScenario.messages) },
      many: { type: "boolean", default: false },
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
  const list = await chosen(values.engines);
  const crashes: Crash[] = ["none", values.many ? "many" : "one"];
  const done = await compare(list, scenarioOf(messages), crashes);
  if (values.json) console.log(JSON.stringify(done.map(jsonComparison)));
  else {
    for (const crash of crashes) {
      const some = done.filter((one) => one.crash === crash);
      console.log(`\n${titles[crash].table}\n\n${comparisonTable(some)}`);
      if (crash === "none") console.log(`\n  99 of 100 deliveries are at most so late\n\n${latenessChart(some)}`);
    }
    console.log();
  }
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
