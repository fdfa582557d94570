// `npm run test:model`: finds or installs redis-server, then runs the sequences of test/model, as many as you like:
// `npm run test:model -- --runs 100000 --seed 1`. Without --seed each run tries others; the one that failed is printed.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root, run, tool } from "./command.mjs";

const usage = "Usage: npm run test:model -- [--runs <from 1>] [--seed <0 to 2147483647>]";

/** A whole number as an environment variable has it; undefined when the option was left out. */
function wholeNumber(text, least) {
  if (text === undefined) return undefined;
  if (!/^\d{1,10}$/.test(text) || Number(text) < least || Number(text) > 2_147_483_647) throw new RangeError(text);
  return text;
}

function environment() {
  const { values } = parseArgs({ options: { runs: { type: "string" }, seed: { type: "string" } } });
  const given = { PUNCTUAL_RUNS: wholeNumber(values.runs, 1), PUNCTUAL_SEED: wholeNumber(values.seed, 0) };
  return { ...process.env, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) };
}

try {
  const env = environment();
  process.exitCode =
    (await run(process.execPath, [join(root, "scripts", "setup.mjs")])) ||
    (await tool("vitest", "vitest", ["run", "test/model", "--disable-console-intercept"], { env }));
} catch (error) {
  console.error(`${error.message}\n${usage}`);
  process.exitCode = 2;
}
