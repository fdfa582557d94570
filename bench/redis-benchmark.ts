import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Connection } from "../src/clients/port.js";
import { usualSize } from "./payloads.js";

const execute = promisify(execFile);

const payload = "x".repeat(usualSize);

/** Messages a second, when redis-benchmark stores so many: all ZADD first, then all HSET. */
export async function storingRate(url: string, count: number): Promise<number> {
  const ids = 1_000_000_000;
  const added = await secondsFor(url, count, ids, ["ZADD", "schedule", "__rand_int__", "__rand_int__"]);
  return count / (added + (await secondsFor(url, count, ids, ["HSET", "messages", "__rand_int__", payload])));
}

/**
 * Payloads for each that is removed. The numbers are drawn at random, so that one may be drawn twice: of four for each, seven in
 * eight removals find theirs.
 */
const spare = 4;

/** Messages that are stored with one command. */
const piece = 10_000;

/** Stores ids and payloads as redis-benchmark names them, all numbers below a limit, where drawing would leave gaps. */
const fill = `
for number = ARGV[1], ARGV[2] do
  local id = string.format("%012d", number)
  redis.call("HSET", "messages", id, ARGV[4])
  if number < tonumber(ARGV[3]) then redis.call("ZADD", "schedule", number, id) end
end`;

/** Messages a second, when redis-benchmark takes so many: all ZPOPMIN first, then all HDEL. */
export async function takingRate(url: string, connection: Connection, count: number): Promise<number> {
  const ids = spare * count;
  for (let first = 0; first < ids; first += piece) {
    const last = Math.min(first + piece, ids) - 1;
    await connection.send(["EVAL", fill, "0", String(first), String(last), String(count), payload]);
  }
  const popped = await secondsFor(url, count, ids, ["ZPOPMIN", "schedule"]);
  return count / (popped + (await secondsFor(url, count, ids, ["HDEL", "messages", "__rand_int__"])));
}

async function secondsFor(url: string, count: number, ids: number, command: readonly string[]): Promise<number> {
  const { hostname, port } = new URL(url);
  const options = `-h ${hostname} -p ${port} -c 1 -P 1000 -n ${count} -r ${ids} --csv`.split(" ");
  const { stdout } = await execute("redis-benchmark", [...options, ...command]);
  return count / rateIn(stdout);
}

/** The commands a second of its last line: a name in quotes, then the rate in quotes. */
function rateIn(output: string): number {
  const rate = Number(/^"[^"]*","([\d.]+)"/u.exec(output.trimEnd().split("\n").at(-1) ?? "")?.[1]);
  if (!(rate > 0)) throw new Error(`redis-benchmark printed no rate:\n${output}`);
  return rate;
}
