import { setTimeout as sleep } from "node:timers/promises";
import type { Engine } from "../../src/engine.js";
import { Queue } from "../../src/index.js";

export interface RestartRun {
  /** A new engine, as a process of its own has it. */
  readonly engine: () => Engine;
  /** Ends the broker and starts it again. */
  readonly restart: () => Promise<void>;
  readonly messages: number;
  /** The longest delay of a message, ms. */
  readonly span: number;
  readonly consumers: number;
}

interface Spread {
  readonly p50: number;
  readonly p99: number;
}

/** What became of the messages. */
export interface RestartFigures {
  /** Messages whose schedule failed, which should be none. */
  readonly refused: number;
  /** Messages that were scheduled and never handled. */
  readonly lost: readonly string[];
  /** Messages that were handled before they were due, by the clock of this machine. */
  readonly early: readonly string[];
  /** Messages that were handled more than once. */
  readonly repeated: number;
  /** From the moment at which the broker took connections again until each consumer had handled a message, ms. */
  readonly backAfter: number;
  /** Of messages that were due before the broker went away, and from 10 s after it was back on; the most of all. ms */
  /** What the broker has when all is over. */
  readonly left: { readonly scheduled: number; readonly due: number; readonly dead: number };
  readonly lateness: { readonly before: Spread; readonly after: Spread; readonly most: number };
}

/** For so long nothing may be handled until the run is over that still misses some, ms. */
const patience = 15_000;
/** For so long messages go on coming until every consumer has had one: the first that is back may have done all the others. */
const probing = 10_000;
/** After the broker is back, what came due meanwhile is handled first, and what was on its way is sent on again, ms. */
const aftermath = 10_000;

/**
 * Schedules messages with random delays and handles them while the broker is restarted, once, in the middle. Some are
 * scheduled just then.
 */
export async function runRestart({ engine, restart, messages, span, consumers }: RestartRun): Promise<RestartFigures> {
  const engines = Array.from({ length: consumers + 1 }, engine);
  const starts = new Map<string, { readonly at: number; readonly dueAt: number; readonly lateness: number }[]>();
  const scheduled = new Set<string>();
  let backAt = Infinity;
  const back = new Map<number, number>();
  const running = engines.slice(1).map((own, index) =>
    new Queue<string>("restart", { engine: own }).consume(({ id, dueAt, lateness }) => {
      const at = Date.now();
      if (at >= backAt && !back.has(index)) back.set(index, at - backAt);
      const record = { at, dueAt: dueAt.getTime(), lateness };
      starts.set(id, [...(starts.get(id) ?? []), record]);
    }),
  );
  const queue = new Queue<string>("restart", { engine: engines[0] as Engine });
  let refused = 0;
  const schedule = async (ids: readonly string[], longest: number) => {
    const done = ids.map(async (id) => {
      try {
        await queue.schedule(id, { id, delay: Math.random() * longest, timeout: 30_000 });
        scheduled.add(id);
      } catch {
        refused++;
      }
    });
    await Promise.all(done);
  };
  try {
    const ids = Array.from({ length: messages }, (_, index) => `m-${index}`);
    const meanwhile = ids.splice(0, Math.ceil(messages / 20));
    const begin = Date.now();
    while (ids.length > 0) await schedule(ids.splice(0, 200), span - (Date.now() - begin));
    await sleep(Math.max(0, span / 2 - (Date.now() - begin)));
    const awayAt = Date.now();
    const restarting = restart();
    await Promise.all([restarting.then(() => (backAt = Date.now())), schedule(meanwhile, span / 2)]);
    for (let probes = 0; back.size < consumers && Date.now() < backAt + probing; probes += 5) {
      await schedule(
        Array.from({ length: 5 }, (_, index) => `probe-${probes + index}`),
        0,
      );
      await sleep(20);
    }
    let before = -1;
    for (let quiet = 0; starts.size < scheduled.size && quiet < patience; before = starts.size) {
      await sleep(100);
      const isDueLater = Date.now() < begin + span + span / 2;
      quiet = starts.size > before || isDueLater ? 0 : quiet + 100;
    }
    const { scheduled: waiting, due, dead } = await queue.counts();
    const all = [...starts.values()].flat();
    return {
      refused,
      lost: [...scheduled].filter((id) => !starts.has(id)),
      early: [...starts].filter(([, list]) => list.some((one) => one.at < one.dueAt)).map(([id]) => id),
      repeated: [...starts.values()].filter((list) => list.length > 1).length,
      backAfter: back.size === consumers ? Math.max(...back.values()) : Infinity,
      left: { scheduled: waiting, due, dead },
      lateness: {
        before: spreadOf(all.filter(({ dueAt }) => dueAt < awayAt - 1_000)),
        after: spreadOf(all.filter(({ dueAt }) => dueAt > backAt + aftermath)),
        most: Math.max(...all.map(({ lateness }) => lateness)),
      },
    };
  } finally {
    await Promise.all(running.map((consumer) => consumer.close()));
    await Promise.all(engines.map((one) => one.close()));
  }
}

function spreadOf(starts: readonly { readonly lateness: number }[]): Spread {
  const sorted = starts.map(({ lateness }) => lateness).toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
  return { p50: at(0.5), p99: at(0.99) };
}
