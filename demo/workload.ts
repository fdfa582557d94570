/**
 * The workload of the demo: schedules many messages on any engine, consumes them, fails some, cancels some, and accounts
 * for every one. It prints nothing, so that comparisons and benchmarks can use it as well.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Engine } from "../src/engine.js";
import { Queue } from "../src/index.js";
import { type Figures, Ledger } from "./ledger.js";
import { produce, type Task } from "./produce.js";
import { makePlan, type Plan, type Scenario } from "./scenario.js";

export type { Figures } from "./ledger.js";

export interface WorkloadOptions {
  readonly engine: Engine;
  /**
   * What consumers work on, the first on the first and so on: one each races them as processes are, where those of one engine
   * take turns. Default: all on `engine`.
   */
  readonly consumerEngines?: readonly Engine[] | undefined;
  /** The name of a queue that nobody else uses. What is left in it after a run that lost something is left there. */
  readonly queue: string;
  readonly scenario: Scenario;
  /**
   * The time by the clock that decides what is due, Unix ms: the latest that it can be. It judges lateness and what was
   * early, so it should not be an estimate of the engine under test.
   */
  readonly now: () => number;
  /**
   * After how long without any news, ms, a run with open messages is given up; the lease, after which a delivery that
   * went wrong comes again, is added. Default 3,000.
   */
  readonly patience?: number | undefined;
  /** Ends the run early: consumers are closed, then the run rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Hears, about 20 times a second, how far the run is. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Hears errors that consumers report and that do not end the run. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface Progress {
  /** Messages in all. */
  readonly messages: number;
  readonly scheduled: number;
  /** Delivered or cancelled. */
  readonly ended: number;
}

interface Run extends WorkloadOptions {
  readonly tasks: Queue<Task>;
  readonly plan: Plan;
  readonly ledger: Ledger;
}

/** How often cancellations are sent and progress is told, ms. */
const cancelInterval = 10;
const progressInterval = 50;

/** Runs the scenario and returns its account. Rejects when a call of the queue does. */
export async function runWorkload(options: WorkloadOptions): Promise<Figures> {
  options.signal?.throwIfAborted();
  const started = options.now();
  const plan = makePlan(options.scenario, started);
  const tasks = new Queue<Task>(options.queue, { engine: options.engine });
  const run: Run = { ...options, plan, tasks, ledger: new Ledger(plan) };
  const consumers = Array.from({ length: options.scenario.consumers }, (_, place) => consume(run, place));
  try {
    // The wait is part of the same group, so a schedule that fails ends it at once.
    await allOrFirstFailure(options.signal, [
      (signal) => produce(tasks, plan, run.ledger, signal),
      (signal) => cancelSome(run, signal),
      (signal) => waitForTheEnd(run, signal),
    ]);
  } finally {
    await Promise.all(consumers.map((consumer) => consumer.close({ timeout: 2_000 })));
  }
  const seconds = (options.now() - started) / 1_000;
  const counts = await tasks.counts();
  return run.ledger.close(counts.scheduled + counts.due + counts.leased + counts.dead, seconds);
}

function consume({ engine, consumerEngines = [], queue, scenario, plan, ledger, now, onError }: Run, place: number) {
  const own = consumerEngines[place % consumerEngines.length] ?? engine;
  const consumer = new Queue<Task>(queue, { engine: own }).consume(
    async (message) => {
      const { number } = message.payload;
      ledger.start(number, message.dueAt.getTime(), now());
      if (plan.fails[number] === 1 && message.attempt === 1) {
        ledger.fail();
        throw new Error("This handler fails at first, as the scenario wants it.");
      }
      ledger.finish(number);
    },
    { concurrency: scenario.concurrency, lease: scenario.lease, retry: { backoff: () => scenario.retryDelay } },
  );
  if (onError !== undefined) consumer.on("error", onError);
  return consumer;
}

/** Sends the planned cancellations, each at its time, as soon as all messages are scheduled. */
async function cancelSome({ tasks, plan, ledger, now }: Run, signal: AbortSignal): Promise<void> {
  let next = 0;
  while (next < plan.cancellations.length) {
    await sleep(cancelInterval, undefined, { signal });
    if (ledger.scheduled < plan.dueAt.length) continue;
    const first = next;
    while ((plan.cancellations[next]?.at ?? Infinity) <= now()) next += 1;
    const numbers = plan.cancellations.slice(first, next).map(({ number }) => number);
    if (numbers.length === 0) continue;
    const answers = await tasks.cancelMany(numbers.map(String));
    answers.forEach((answer, index) => {
      const number = numbers[index];
      if (answer === "cancelled" && number !== undefined) ledger.cancel(number);
    });
  }
}

/** Waits until every message has come to its end, or nothing has happened for so long that nothing will. */
async function waitForTheEnd(run: Run, signal: AbortSignal): Promise<void> {
  const { ledger, plan, scenario, now, onProgress, patience = 3_000 } = run;
  const messages = plan.dueAt.length;
  const lastDue = plan.dueAt.reduce((latest, due) => Math.max(latest, due), 0);
  let ended = -1;
  let newsAt = now();
  for (;;) {
    onProgress?.({ messages, scheduled: ledger.scheduled, ended: ledger.ended });
    if (ledger.ended >= messages) return;
    if (ledger.ended !== ended) newsAt = now();
    ended = ledger.ended;
    if (now() > Math.max(newsAt, lastDue) + scenario.lease + patience) return;
    await sleep(progressInterval, undefined, { signal });
  }
}

/** Runs tasks side by side. The first that fails, or the signal, ends the others through their own signal. */
async function allOrFirstFailure(
  outer: AbortSignal | undefined,
  tasks: readonly ((signal: AbortSignal) => Promise<void>)[],
): Promise<void> {
  const group = new AbortController();
  const signal = outer === undefined ? group.signal : AbortSignal.any([outer, group.signal]);
  const results = await Promise.allSettled(
    tasks.map(async (task) => {
      try {
        await task(signal);
      } catch (error) {
        group.abort(error);
        throw error;
      }
    }),
  );
  outer?.throwIfAborted();
  // The reason of the group is the failure that came first; the others only followed from it.
  if (results.some((result) => result.status === "rejected")) throw group.signal.reason;
}
