import { createRequire } from "node:module";
import { version as nodeVersion } from "node:process";
import manifest from "../package.json" with { type: "json" };
import type { OpenHarness } from "./harness.js";
import { schemeNames } from "./scheme-names.js";

/** `limit`: bare commands that store and take the same bytes, without a promise to keep; `scheme`: other engines of punctual. */
export type Kind = "punctual" | "peer" | "limit" | "scheme";

/** What is measured. */
export interface Subject {
  readonly name: string;
  readonly kind: Kind;
  /** How it is set up, for people who want to judge whether that is fair. */
  readonly setUp: string;
  /** About how many messages it drains in a second: a run has so many that it takes about as long for each subject. */
  readonly pace: number;
  /** Loads its harness; what cannot be driven from Node has none. */
  readonly load: (() => Promise<OpenHarness>) | undefined;
}

const schemes = schemeNames.map((name): Subject => ({
  name,
  kind: "scheme",
  setUp: `the engine ${name} of punctual, otherwise as punctual`,
  pace: 20_000,
  load: async () => (await import("./harnesses/schemes.js")).openScheme(name),
}));

/** Every subject, in the order of the tables. */
export const subjects: readonly Subject[] = [
  {
    name: "punctual",
    kind: "punctual",
    setUp: "redisEngine with @redis/client and no options; scheduleMany",
    pace: 150_000,
    load: async () => (await import("./harnesses/punctual.js")).open,
  },
  {
    name: "bullmq",
    kind: "peer",
    setUp:
      "ioredis; addBulk; removeOnComplete and removeOnFail; no metrics; no stalled checks; the stream of events kept short",
    pace: 15_000,
    load: async () => (await import("./harnesses/bullmq.js")).open,
  },
  {
    name: "bee-queue",
    kind: "peer",
    setUp:
      "its own client, redis 3; saveAll; removeOnSuccess and removeOnFailure; storeJobs, sendEvents and getEvents off; activateDelayedJobs with delayedDebounce 1",
    pace: 20_000,
    load: async () => (await import("./harnesses/bee-queue.js")).open,
  },
  {
    name: "groupmq",
    kind: "peer",
    setUp:
      "ioredis; autoBatch; a group for each message, so that none holds up others; nothing kept; the scheduler every 10 ms, with a lock as short",
    pace: 2_000,
    load: async () => (await import("./harnesses/groupmq.js")).open,
  },
  {
    name: "limit",
    kind: "limit",
    setUp:
      "pipelined ZADD and HSET, ZPOPMIN and HDEL, written to a socket as bytes: no script, no client, no payload read, no promise kept",
    pace: 500_000,
    load: async () => (await import("./harnesses/limit.js")).open,
  },
  {
    name: "redis-benchmark",
    kind: "limit",
    setUp:
      "the same commands from redis-benchmark -c 1 -P 1000, one kind after the other; one in eight HDEL finds its payload gone",
    pace: 500_000,
    load: undefined,
  },
  ...schemes,
];

/** A subject by its name; fails with a sentence. */
export function subjectNamed(name: string): Subject {
  const found = subjects.find((subject) => subject.name === name);
  if (found !== undefined) return found;
  throw new Error(`There is no subject "${name}"; there are ${subjects.map((one) => one.name).join(", ")}.`);
}

/** The versions of Node, of punctual, and of the packages of subjects, as they are installed. */
export function versionsOf(chosen: readonly Subject[]): Record<string, string> {
  const require = createRequire(import.meta.url);
  const versionOf = (name: string) => (require(`${name}/package.json`) as { version: string }).version;
  const packages = chosen.filter(({ kind }) => kind === "peer").map(({ name }) => name);
  const all = [...packages, "@redis/client", "ioredis"].map((name) => [name, versionOf(name)]);
  // Not among the dependencies of this workspace, and another redis may lie beside it.
  if (packages.includes("bee-queue")) {
    const theirs = createRequire(require.resolve("bee-queue"));
    all.push(["bee-queue's redis", (theirs("redis/package.json") as { version: string }).version]);
  }
  return {
    node: nodeVersion.slice(1),
    punctual: manifest.version,
    ...(Object.fromEntries(all) as Record<string, string>),
  };
}
