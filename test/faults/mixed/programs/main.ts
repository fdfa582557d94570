/** The program behind `npm run test:faults`. */
import { randomInt } from "node:crypto";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Figures } from "../figures.js";
import { type Client, clients, topologies, type Topology } from "../grounds.js";
import { openPage, type Part } from "../page.js";
import { isRight, reportOf } from "../report.js";
import { runMixed } from "../run.js";

const help = `Usage: npm run test:faults -- [options]

Producers and consumers at work on private servers, while faults of all kinds come one after the other: connections that are cut,
held up and swallowed, servers that are killed, frozen and replaced, passwords that change, processes that are killed, stopped and
blocked, clocks that jump. After each of them every consumer must work again; in the end every message is accounted for.

Options:
  --topology <name>   ${topologies.join(", ")} (single); with --table all of them
  --client <name>     ${clients.join(", ")} (node-redis); with --table all of them
  --minutes <n>       how long, 0.1 to 600 (10)
  --messages <n>      how many, 1 to 10,000,000 (24,000 a minute); not with --table
  --seed <n>          repeats what becomes of each message, and which faults come (any; it is printed)
  --partitions <n>    into how many partitions the queue is split, 1 to 64 (1; in a Cluster 3)
  --table             instead, each kind of fault once, one at a time: how long until everybody works again
  --write <file>      puts the figures into a page as well: between <!-- runs --> and <!-- end -->, and <!-- causes --> and
                      <!-- end -->, or with --table between <!-- recovery --> and <!-- end -->
  --json              prints the figures as JSON, the last line on stdout, instead of the report
  --help              prints this

Exit status: 0 all invariants hold, 1 one is broken, 2 it could not run.
`;

const text = { type: "string" } as const;
const flag = { type: "boolean", default: false } as const;
const program = fileURLToPath(new URL("consumer.mjs", import.meta.url));
/** How long a run of single faults lasts at most, s; it ends when each has come to pass. */
const tableSeconds = 1_200;
const messagesAMinute = 24_000;

function number(name: string, given: string | undefined, fallback: number, least: number, most: number): number {
  const value = Number(given ?? fallback);
  if (given !== "" && value >= least && value <= most) return value;
  throw new Error(`--${name} takes a number from ${least} to ${most}, not "${given}".`);
}

function oneOf<Name extends string>(
  option: string,
  given: string | undefined,
  names: readonly Name[],
): readonly Name[] {
  if (given === undefined) return names;
  const name = names.find((one) => one === given);
  if (name === undefined) throw new Error(`--${option} takes ${names.join(", ")}, not "${given}".`);
  return [name];
}

const partsOf = (table: boolean): readonly Part[] => (table ? ["recovery"] : ["runs", "causes"]);

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      topology: text,
      client: text,
      minutes: text,
      messages: text,
      seed: text,
      partitions: text,
      write: text,
      table: flag,
      json: flag,
      help: flag,
    },
  });
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  const { table } = values;
  const wanted = {
    topologies: oneOf<Topology>("topology", values.topology ?? (table ? undefined : "single"), topologies),
    clients: oneOf<Client>("client", values.client ?? (table ? undefined : "node-redis"), clients),
  };
  const seconds = table ? tableSeconds : 60 * number("minutes", values.minutes, 10, 0.1, 600);
  const fallback = Math.ceil((messagesAMinute * seconds) / 60);
  const messages = Math.round(number("messages", values.messages, fallback, 1, 10_000_000));
  const seed = Math.floor(number("seed", values.seed, randomInt(2 ** 31), 0, 2 ** 32 - 1));
  // Before the run, which takes minutes.
  const page = values.write === undefined ? undefined : await openPage(values.write, partsOf(table));

  const done: Figures[] = [];
  for (const topology of wanted.topologies) {
    const partitions = Math.floor(number("partitions", values.partitions, topology === "cluster" ? 3 : 1, 1, 64));
    for (const client of wanted.clients) {
      console.error(`${topology}, ${client}, seed ${seed}`);
      const figures = await runMixed({
        topology,
        client,
        seconds,
        messages,
        seed,
        partitions,
        program,
        each: table,
        log: console.error,
      });
      done.push(figures);
      await page?.write(figures);
      if (!values.json) console.log(`${reportOf(figures)}\n`);
    }
  }
  if (values.json) console.log(JSON.stringify(done.length === 1 ? done[0] : done));
  return done.every(isRight) ? 0 : 1;
}

// Servers and processes end with this one.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
}
