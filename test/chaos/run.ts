import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Random, seededRandom } from "../../demo/seeded-random.js";
import type { Counts, EngineQueue } from "../../src/engine.js";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { queueKeys } from "../../src/engines/redis/keys.js";
import { startRedisServer } from "../../src/testing/redis-server.js";
import { rawRedis } from "../support/raw-redis.js";
import { Fleet, type Programs } from "./fleet.js";
import { Orphans } from "./orphans.js";
import { readStories } from "./stories.js";
import type { DeadLetter, Run } from "./verdict.js";

export interface ChaosOptions {
  /** How long messages are scheduled, and processes killed. */
  readonly seconds: number;
  readonly messages: number;
  /** What becomes of each message, and who is killed, follows from it; when exactly does not. */
  readonly seed: number;
  readonly programs: Programs;
  /** Hears what happens. */
  readonly log?: (line: string) => void;
}

const queueName = "chaos";
/** How long it may take until less is left to do than ever before, ms: on a slow machine all takes longer, but goes on. */
const patience = 30_000;
const roles = ["consumer", "consumer", "consumer", "consumer", "producer", "producer"] as const;

/**
 * Producers and consumers on a Redis that keeps what it confirmed, killed at random and replaced; orphans of every kind planted
 * and mended half-way. Then all is delivered, and everybody's journal is read.
 */
export async function runChaos({ seconds, messages, seed, programs, log = () => {} }: ChaosOptions): Promise<Run> {
  await using server = await startRedisServer({ aof: true });
  const url = `unix://${server.socketPath}`;
  await using engine = redisEngine({ url });
  const queue = engine.open(queueName);
  await using raw = await rawRedis(url);
  await using journals = await temporaryFolder();
  const folder = journals.path;
  await using fleet = new Fleet(programs, roles, { url, queue: queueName, folder, seed, messages });
  const keys = queueKeys("punctual", queueName);
  const orphans = new Orphans(raw, queue, keys);

  const random = seededRandom(seed);
  const found: string[] = [];
  const load = produce(fleet, messages, seconds * 1_000);
  const killing = kill(fleet, random, seconds * 1_000);
  // Nobody has planted anything yet: what is found now was made by work that goes on.
  await sleep(seconds * 250);
  found.push(...(await problemsOf(queue)));
  await sleep(seconds * 250);
  log("planting orphans");
  await orphans.run();
  await Promise.all([load, killing]);
  log(`killed ${fleet.killed.size}; draining`);

  const drained = await drain(fleet, queue);
  await fleet.close();
  found.push(...(await problemsOf(queue)));
  const dead = await deadLetters(queue);
  const stored = new Set((await raw.text("HKEYS", keys.messages)) as string[]);
  await queue.remove(dead.map(({ id }) => id));
  found.push(...(await problemsOf(queue)));
  const emptied = await queue.counts();
  return {
    seed,
    messages,
    stories: readStories(folder),
    killed: fleet.killed,
    failed: fleet.failed,
    orphans: orphans.count,
    planted: orphans.delivered,
    mending: orphans.broken,
    dead,
    stored,
    drained,
    emptied,
    found,
  };
}

async function temporaryFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "punctual-chaos-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Gives all messages to the producers, evenly. */
async function produce(fleet: Fleet, messages: number, lasts: number): Promise<void> {
  const size = Math.max(1, Math.ceil((messages * 100) / lasts));
  const from = performance.now();
  for (let first = 0; first < messages; first += size) {
    await sleep(from + (first / messages) * lasts - performance.now());
    fleet.produce({ first, end: Math.min(first + size, messages) });
  }
}

/** Kills somebody about once a second; until the first has started, nobody would have done anything. */
async function kill(fleet: Fleet, random: Random, lasts: number): Promise<void> {
  const until = performance.now() + lasts;
  for (;;) {
    const wait = 500 + random() * 1_000;
    if (performance.now() + wait > until) return;
    await sleep(wait);
    await fleet.killOne(random);
  }
}

/** Waits until producers have done all and nothing is left but dead letters; gives what is left when that takes too long. */
async function drain(fleet: Fleet, queue: EngineQueue): Promise<Counts> {
  let least = Infinity;
  let giveUpAt = Infinity;
  for (;;) {
    const counts = await queue.counts();
    // Whatever is scheduled meanwhile, a share that is done is progress.
    const left = fleet.sharesLeft * 1e9 + counts.scheduled + counts.due + counts.leased;
    if (left === 0 || performance.now() > giveUpAt) return counts;
    if (left < least) {
      least = left;
      giveUpAt = performance.now() + patience;
    }
    await sleep(100);
  }
}

async function problemsOf(queue: EngineQueue): Promise<string[]> {
  const { problems } = await queue.audit();
  return problems.map(({ kind, id, detail }) => `${kind}: ${detail} ${id}`);
}

async function deadLetters(queue: EngineQueue): Promise<DeadLetter[]> {
  const dead: DeadLetter[] = [];
  let cursor: string | undefined;
  do {
    const page = await queue.list({ state: "dead", limit: 1_000, cursor });
    dead.push(...page.messages.map(({ id, attempt, buried }) => ({ id, attempt, reason: buried?.reason ?? "" })));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return dead;
}
