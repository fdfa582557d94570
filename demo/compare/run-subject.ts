import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PunctualError, Queue } from "../../src/index.js";
import { type Figures, Ledger } from "../ledger.js";
import { produce, type Task } from "../produce.js";
import { makePlan, type Plan, type Scenario } from "../scenario.js";
import { seededRandom } from "../seeded-random.js";
import type { Bench } from "./bench.js";
import { ConsumerProcess } from "./consumer-process.js";
import { inOrder, stepsOf } from "./record.js";
import { type Usage, usageOf } from "./server-usage.js";
import { engineOf, type Subject } from "./subjects.js";

/** What happens to consumers: nothing, one is killed half-way, or one after the other is, and replaced. */
export type Crash = "none" | "one" | "many";

export interface RunOptions {
  readonly subject: Subject;
  readonly scenario: Scenario;
  readonly crash: Crash;
  readonly bench: Bench;
  readonly onProgress: (ended: number) => void;
  readonly signal: AbortSignal;
}

/** What came of one run. */
export interface Comparison {
  readonly subject: string;
  readonly crash: Crash;
  readonly figures: Figures;
  /** Messages that were handled, by the time from the first due time to the last end. */
  readonly perSecond: number;
  /** What the Redis spent; of another server nobody knows. */
  readonly spent: Spent | undefined;
}

export interface Spent {
  readonly commandsAMessage: number;
  readonly bytesAPendingMessage: number;
  readonly cpuSeconds: number;
}

/** How often one of many is killed, ms. */
const killInterval = 300;
/** How long a handler takes where a consumer is killed, ms: so that it holds some in the middle of their handlers. */
const workWhenKilled = 20;
/** How long nothing may happen, with all leases ended, until a run is over that still misses some, ms. */
const patience = 2_500;
/** The same where the engine says that it has none left: only handlers may be at work still. */
const patienceWithNone = 1_000;

/** Runs the workload on one engine, with the consumers in processes of their own, and accounts for each message. */
export async function runSubject(options: RunOptions): Promise<Comparison> {
  const { subject, scenario, crash, bench } = options;
  const folder = await mkdtemp(join(tmpdir(), "punctual-compare-"));
  await bench.connection.send(["FLUSHALL"]);
  const url = bench.urls[subject.server];
  if (url === undefined) throw new Error(`There is no ${subject.server} to run ${subject.name} on.`);
  const engine = await engineOf(subject, url);
  const job = {
    subject,
    url,
    clock: bench.urls.redis,
    // Its own in each run: what a broker still has of another run is not cleared.
    queue: `compare-${crash}`,
    concurrency: scenario.concurrency,
    lease: scenario.lease,
    work: crash === "none" ? 0 : workWhenKilled,
  };
  const consumers: ConsumerProcess[] = [];
  const start = () => consumers.push(new ConsumerProcess({ ...job, notes: join(folder, String(consumers.length)) }));
  for (let place = 0; place < scenario.consumers; place++) start();
  try {
    await Promise.all(consumers.map((consumer) => consumer.ready()));
    const before = await usageOf(bench.connection);
    const queue = new Queue<Task>(job.queue, { engine });
    const plan = makePlan(scenario, bench.time.now());
    const ledger = new Ledger(plan);
    await produce(queue, plan, ledger, options.signal);
    options.signal.throwIfAborted();
    const filled = await usageOf(bench.connection);
    await waitForTheEnd(options, { queue, plan, consumers, start });
    const after = await usageOf(bench.connection);
    await Promise.all(consumers.map((consumer) => consumer.close()));
    const seconds = await account(ledger, plan, consumers);
    const figures = ledger.close((await messagesLeft(queue)) ?? 0, seconds);
    return {
      subject: subject.name,
      crash,
      figures,
      perSecond: figures.delivered / seconds,
      spent: subject.server === "redis" ? spentOn(scenario.messages, { before, filled, after }) : undefined,
    };
  } finally {
    for (const consumer of consumers) consumer.kill();
    await engine.close();
    await rm(folder, { recursive: true });
  }
}

function spentOn(messages: number, { before, filled, after }: Record<"before" | "filled" | "after", Usage>): Spent {
  return {
    commandsAMessage: (after.commands - before.commands) / messages,
    bytesAPendingMessage: (filled.memory - before.memory) / messages,
    cpuSeconds: after.cpu - before.cpu,
  };
}

interface Run {
  readonly queue: Queue<Task>;
  readonly plan: Plan;
  /** All that were started so far. */
  readonly consumers: readonly ConsumerProcess[];
  /** Starts one more. */
  readonly start: () => unknown;
}

/** Waits until each message has started and ended, or nothing has happened for so long that nothing will. */
async function waitForTheEnd({ scenario, crash, bench, onProgress, signal }: RunOptions, run: Run): Promise<void> {
  const { queue, plan, consumers, start } = run;
  const lastDue = plan.dueAt.reduce((latest, due) => Math.max(latest, due), 0);
  const random = seededRandom(scenario.seed);
  // Of many the first goes as soon as messages are due, and the last before the end of them.
  let killAt = crash === "many" ? lastDue - scenario.spread + killInterval : lastDue - scenario.spread / 2;
  const alive = [...consumers];
  let news = { steps: -1, at: bench.time.now() };
  for (;;) {
    signal.throwIfAborted();
    const now = bench.time.now();
    if (crash !== "none" && now >= killAt && now < lastDue) {
      const [victim] = alive.splice(Math.floor(random() * alive.length), 1);
      victim?.kill();
      if (crash === "many") {
        start();
        alive.push(...consumers.slice(-1));
      }
      killAt = crash === "many" ? now + killInterval : Infinity;
    }
    const steps = (await Promise.all(consumers.map((consumer) => consumer.steps()))).reduce((sum, one) => sum + one, 0);
    onProgress(Math.min(scenario.messages, Math.floor(steps / 2)));
    if (steps !== news.steps) news = { steps, at: now };
    if (crash === "none" && steps === 2 * scenario.messages) return;
    const quiet = now - Math.max(news.at, lastDue);
    if (quiet > scenario.lease + patience) return;
    if (quiet > patienceWithNone && (await messagesLeft(queue)) === 0) return;
    await sleep(50, undefined, { signal });
  }
}

/** Tells the ledger all steps in the order of time, and gives how long they took, from the first due time on, s. */
async function account(ledger: Ledger, plan: Plan, consumers: readonly ConsumerProcess[]): Promise<number> {
  const steps = (await Promise.all(consumers.map(async ({ notes }) => inOrder(await stepsOf(notes))))).flat();
  steps.sort((one, other) => one.place - other.place);
  for (const { kind, number, dueAt, at } of steps) {
    if (kind === "started") ledger.start(number, dueAt, at);
    else ledger.finish(number);
  }
  const firstDue = plan.dueAt.reduce((earliest, due) => Math.min(earliest, due), Infinity);
  return ((steps.at(-1)?.at ?? firstDue) - firstDue) / 1_000;
}

/** How many messages the engine still has; undefined where it cannot say. */
export async function messagesLeft(queue: Pick<Queue, "counts">): Promise<number | undefined> {
  try {
    const { scheduled, due, leased, dead } = await queue.counts();
    return scheduled + due + leased + dead;
  } catch (error) {
    if (error instanceof PunctualError && error.code === "unsupported") return undefined;
    throw error;
  }
}
