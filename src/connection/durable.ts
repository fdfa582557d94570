import type { Reply } from "../clients/port.js";
import { type Duration, parseDuration } from "../duration.js";
import { invalidArgument } from "../invalid-argument.js";
import { checkOptionNames } from "../option-names.js";
import { quote } from "../quote.js";
import { checkWholeNumber } from "../whole-number.js";

/** What a schedule waits for, after Redis has stored its messages. At least one of `replicas` and `fsync` is given. */
export interface DurabilityOptions {
  /** How many replicas have to have the messages (`WAIT`): 1 to 100. Default: none. */
  readonly replicas?: number | undefined;
  /**
   * Whether the messages have to be on the disk (`WAITAOF`; Redis 7.2 or Valkey, with `appendonly yes`); with `replicas`, on
   * the disks of these, too. Default false.
   */
  readonly fsync?: boolean | undefined;
  /**
   * How long to wait for that, 1 ms to 10 s. Past it the call fails with `not-confirmed`. A call that comes while another one
   * waits first waits with that, so this comes up to twice on top of its `timeout`.
   */
  readonly timeout: Duration;
}

/** The same, checked. */
export interface Durability {
  readonly replicas: number;
  readonly fsync: boolean;
  /** ms. */
  readonly timeout: number;
}

const names = new Set(["replicas", "fsync", "timeout"]);
const mostReplicas = 100;
const longestTimeout = 10_000;

const invalid = (option: string, problem: string, accepted: string) =>
  invalidArgument("durability", problem, accepted, { option });

/** Fails with `invalid-argument`. */
export function readDurability(options: DurabilityOptions | undefined): Durability | undefined {
  if (options === undefined) return undefined;
  checkOptionNames(options, names, "durability");
  const { replicas, fsync = false } = options;
  if (replicas !== undefined) checkWholeNumber(replicas, "durability.replicas", 1, mostReplicas);
  if (typeof fsync !== "boolean") throw invalid("fsync", `durability.fsync is ${quote(fsync)}`, "true or false");
  if (replicas === undefined && !fsync)
    throw invalid("replicas", "durability has neither replicas nor fsync", "one of them, or both");
  const timeout = parseDuration(options.timeout, "durability.timeout");
  if (timeout < 1 || timeout > longestTimeout)
    throw invalid("timeout", `durability.timeout is ${quote(options.timeout)}`, "1 ms to 10 s");
  return { replicas: replicas ?? 0, fsync, timeout };
}

/** The command that waits for what is wanted of all that was written on its connection before. */
export function waitFor({ replicas, fsync, timeout }: Durability): string[] {
  return fsync ? ["WAITAOF", "1", String(replicas), String(timeout)] : ["WAIT", String(replicas), String(timeout)];
}

/** What its answer lacks, as the end of a sentence about the messages; undefined when all that is wanted was confirmed. */
export function shortfallOf({ replicas, fsync, timeout }: Durability, answer: Reply | undefined): string | undefined {
  const [local, remote] = fsync && Array.isArray(answer) ? answer.map(Number) : [1, Number(answer)];
  const known = Number.isFinite(remote) ? (remote ?? 0) : 0;
  const onDisk = local === 1;
  if (onDisk && known >= replicas) return undefined;
  const within = `within ${timeout} ms`;
  const copies = `${known} of ${replicas} replicas confirmed them ${fsync ? "to be on their disks " : ""}${within}`;
  if (onDisk) return copies;
  const disk = `Redis did not confirm them to be on its disk ${within}`;
  return known >= replicas ? disk : `${disk}, and ${copies}`;
}
