import { read } from "../../source-files.js";
import type { RawRedis } from "../../support/raw-redis.js";

/** The layouts that were recorded, and the options that make the engine use them. */
export const layouts = {
  default: {},
  "hash-tag": { hashTag: true },
  "custom-prefix": { prefix: "shop" },
  "hash-tag-custom-prefix": { hashTag: true, prefix: "shop" },
} as const;

export type Layout = keyof typeof layouts;

/** A key as it was after a step: sorted sets as pairs of member and score, hashes as objects. */
export interface RecordedKey {
  readonly key: string;
  readonly type: string;
  readonly pttlMs: number;
  readonly value: unknown;
}

export interface RecordedStep {
  readonly step: string;
  readonly atUnixMs: number;
  readonly result: string | null;
  readonly commandsSeenByServer: readonly string[];
  readonly keysAfter: readonly RecordedKey[];
}

/** What was recorded of the Go library. */
export function recordedSteps(name: Layout | "events"): readonly RecordedStep[] {
  const { steps } = JSON.parse(read(`test/schemes/delayqueue/recordings/${name}.json`)) as { steps: RecordedStep[] };
  return steps;
}

const writes = new Set(
  "set hset zadd zrem del hdel lrem lpush rpop zremrangebyscore hincrby sadd srem publish".split(" "),
);

/** The commands of a step that change something, or tell somebody, in the order in which the server ran them. */
export function writesOf({ commandsSeenByServer }: RecordedStep): string[][] {
  return commandsSeenByServer
    .filter((line) => !line.includes("<source left out>"))
    .map((line) => [...line.slice(line.indexOf('"')).matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = ""]) => word))
    .map(([verb = "", ...rest]) => [verb.toLowerCase(), ...rest])
    .filter(([verb = ""]) => writes.has(verb));
}

/** The same command with its times moved by so many seconds. */
export function moved(command: readonly string[], by: number): string[] {
  return command.map((word) => (/^1796\d{6}$/.test(word) ? String(Number(word) + by) : word));
}

/** All keys of the format that are there, in the order of their names; those of our own beside it left out. */
export async function keysIn(raw: RawRedis): Promise<RecordedKey[]> {
  const names = ((await raw.text("KEYS", "*")) as string[]).filter((name) => !name.includes(":punctual:"));
  return await Promise.all(
    names.toSorted().map(async (key) => {
      const type = String(await raw.text("TYPE", key));
      return { key, type, pttlMs: Number(await raw.command("PTTL", key)), value: await valueOf(raw, key, type) };
    }),
  );
}

async function valueOf(raw: RawRedis, key: string, type: string): Promise<unknown> {
  switch (type) {
    case "string":
      return await raw.text("GET", key);
    case "zset":
      return pairs(await raw.text("ZRANGE", key, 0, -1, "WITHSCORES")).map(([id, score]) => [id, Number(score)]);
    case "hash":
      return Object.fromEntries(pairs(await raw.text("HGETALL", key)));
    case "list":
      return await raw.text("LRANGE", key, 0, -1);
    default:
      return await raw.text("SMEMBERS", key);
  }
}

function pairs(flat: unknown): [string, string][] {
  const words = flat as string[];
  return Array.from({ length: words.length / 2 }, (_, index) => [words[2 * index] ?? "", words[2 * index + 1] ?? ""]);
}

/**
 * The same keys with ids named by their payloads, scores as whole seconds after `start` (Unix ms; Go cut the fraction off, we
 * keep it), and times to live in steps of 10 s: what must be equal whoever wrote it.
 */
export function comparable(keys: readonly RecordedKey[], start: number): unknown {
  const payloads = new Map(
    keys.filter(({ type }) => type === "string").map(({ key, value }) => [key.replace(/^.*:msg:/, ""), String(value)]),
  );
  const named = (id: string) => payloads.get(id) ?? id;
  const seconds = (score: number) => (Number.isInteger(score) ? Math.ceil : Math.floor)(score - start / 1000);
  const byText = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
  return keys
    .map(({ key, type, pttlMs, value }) => ({
      key: type === "string" ? key.replace(/[^:]*$/, String(value)) : key,
      type,
      expires: pttlMs < 0 ? "never" : Math.round(pttlMs / 10_000) * 10,
      value:
        type === "zset"
          ? (value as [string, number][]).map(([id, score]) => [named(id), seconds(score)]).toSorted(byText)
          : type === "hash"
            ? Object.entries(value as object)
                .map(([id, count]) => [named(id), count])
                .toSorted(byText)
            : Array.isArray(value)
              ? value.map(String).map(named)
              : value,
    }))
    .toSorted(byText);
}
