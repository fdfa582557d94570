import { parseArgs } from "node:util";
import { demoScenario, type Scenario } from "./scenario.js";
import { sentenceOf } from "./sentence.js";

/** What the command line asks for. */
export type CommandLine =
  | { readonly wants: "run"; readonly scenario: Scenario; readonly json: boolean }
  | { readonly wants: "help" }
  | { readonly wants: "refusal"; readonly sentence: string };

export const help = `Usage: npm run demo -- [options]

Schedules ${demoScenario.messages.toLocaleString("en")} messages with due times spread over ${demoScenario.spread / 1_000} seconds, delivers them to ${demoScenario.consumers} consumers in
this process, lets some handlers fail at first, cancels some messages on the way, and accounts for every one.

Options:
  --messages <n>   how many messages, 1 to 1,000,000 (${demoScenario.messages})
  --seconds <n>    over how many seconds their due times are spread, 0.1 to 600 (${demoScenario.spread / 1_000})
  --seed <n>       repeats a run: due times, failures and what is cancelled follow from it, 0 to 4,294,967,295 (${demoScenario.seed})
  --json           prints the figures as one JSON object, the last line on stdout, instead of the table
  --help           prints this

Environment:
  REDIS_URL        the Redis to use. Without it, a private redis-server is started if one is on the PATH; else the
                   messages are kept in the memory of this process.

Exit status: 0 all is accounted for, 1 something was lost, duplicated or early, 2 the demo could not run, 130 it was
interrupted.
`;

/** Reads the arguments after the name of the program. */
export function parseCommandLine(args: readonly string[]): CommandLine {
  let values;
  try {
    ({ values } = parseArgs({
      args: withNegativeValues(args),
      options: {
        messages: { type: "string" },
        seconds: { type: "string" },
        seed: { type: "string" },
        json: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    }));
  } catch (error) {
    return refuse(sentenceOf(error).split(/\.\s/u)[0] ?? "");
  }
  if (values.help) return { wants: "help" };

  const { messages, seconds, seed } = values;
  if (messages !== undefined && !isWithin(messages, 1, 1_000_000, /^\d+$/u)) {
    return refuse(`--messages takes a whole number from 1 to 1000000, not "${messages}"`);
  }
  if (seconds !== undefined && !isWithin(seconds, 0.1, 600, /^\d+(\.\d+)?$/u)) {
    return refuse(`--seconds takes a number from 0.1 to 600, not "${seconds}"`);
  }
  if (seed !== undefined && !isWithin(seed, 0, 2 ** 32 - 1, /^\d+$/u)) {
    return refuse(`--seed takes a whole number from 0 to 4294967295, not "${seed}"`);
  }
  return {
    wants: "run",
    json: values.json,
    scenario: {
      ...demoScenario,
      ...(messages !== undefined && { messages: Number(messages) }),
      ...(seconds !== undefined && { spread: Number(seconds) * 1_000 }),
      ...(seed !== undefined && { seed: Number(seed) }),
    },
  };
}

/** `--seed -1` as `--seed=-1`: the parser takes the value for another option, and we can say what is wrong with it. */
function withNegativeValues(args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const name = joined.at(-1);
    if (/^-\d/u.test(arg) && name !== undefined && /^--(messages|seconds|seed)$/u.test(name)) {
      joined[joined.length - 1] = `${name}=${arg}`;
    } else joined.push(arg);
  }
  return joined;
}

function isWithin(text: string, least: number, most: number, form: RegExp): boolean {
  return form.test(text) && Number(text) >= least && Number(text) <= most;
}

function refuse(reason: string): CommandLine {
  return { wants: "refusal", sentence: `${reason}. See npm run demo -- --help.` };
}
