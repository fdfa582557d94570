import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { usualSize } from "./payloads.js";

const execute = promisify(execFile);

/** What is sent for one message, as redis-benchmark takes it. */
const commands = {
  store: [
    ["ZADD", "schedule", "__rand_int__", "__rand_int__"],
    ["HSET", "messages", "__rand_int__", "x".repeat(usualSize)],
  ],
  take: [
    ["ZPOPMIN", "schedule"],
    ["HDEL", "messages", "__rand_int__"],
  ],
} as const;

/** Messages a second, when redis-benchmark stores or takes so many: all commands of one kind first, then all of the other. */
export async function combinedRate(url: string, doing: keyof typeof commands, count: number): Promise<number> {
  // What is taken has to be there.
  if (doing === "take") await secondsFor(url, commands.store, count);
  return count / (await secondsFor(url, commands[doing], count));
}

async function secondsFor(url: string, list: readonly (readonly string[])[], count: number): Promise<number> {
  let seconds = 0;
  for (const command of list) {
    const { hostname, port } = new URL(url);
    // prettier-ignore
    const { stdout } = await execute("redis-benchmark", [
      "-h", hostname, "-p", port, "-c", "1", "-P", "1000", "-n", String(count), "-r", "1000000000", "--csv", ...command,
    ]);
    seconds += count / rateIn(stdout);
  }
  return seconds;
}

/** The commands a second of its last line: a name in quotes, then the rate in quotes. */
function rateIn(output: string): number {
  const rate = Number(/^"[^"]*","([\d.]+)"/u.exec(output.trimEnd().split("\n").at(-1) ?? "")?.[1]);
  if (!(rate > 0)) throw new Error(`redis-benchmark printed no rate:\n${output}`);
  return rate;
}
