// `npm run test:chaos -- --seconds 120 --messages 200000 --seed 7`. The seed is printed; giving it again repeats what becomes of
// each message and who is killed. The exit status is 1 when an invariant is broken, 2 when the arguments say nothing.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runChaos } from "../run.js";
import { tableOf } from "../table.js";
import { judge } from "../verdict.js";

const number = { type: "string" } as const;
const { values } = parseArgs({ options: { seconds: number, messages: number, seed: number } });
const seconds = Number(values.seconds ?? 120);
const messages = Number(values.messages ?? 200_000);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));

const isCount = (value: number, least: number) => Number.isSafeInteger(value) && value >= least;
if (!isCount(seconds, 4) || !isCount(messages, 1) || !isCount(seed, 0)) {
  console.error("Usage: npm run test:chaos -- [--seconds n, at least 4] [--messages n] [--seed n]: whole numbers.");
  process.exit(2);
}
const program = (name: string) => fileURLToPath(new URL(`${name}.mjs`, import.meta.url));
console.log(`${messages.toLocaleString("en")} messages in ${seconds} s, seed ${seed}`);
const run = await runChaos({
  seconds,
  messages,
  seed,
  programs: { producer: program("producer"), consumer: program("consumer") },
  log: console.log,
});
const { findings, causes } = judge(run);
console.log(tableOf(findings, causes));
if (findings.some(({ broken }) => broken.length > 0)) process.exitCode = 1;
