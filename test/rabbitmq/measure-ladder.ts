import { connect } from "amqplib";
import type { Engine } from "../../src/engine.js";
import { RabbitmqEngine } from "../../src/engines/rabbitmq/rabbitmq-engine.js";
import { readRabbitmqEngineOptions } from "../../src/engines/rabbitmq/engine-options.js";
import { Ladder } from "../../src/engines/rabbitmq/ladder.js";
import { Names } from "../../src/engines/rabbitmq/names.js";
import { Queue } from "../../src/index.js";

/** What it cost to deliver messages down a ladder. */
export interface LadderFigures {
  readonly hops: number;
  readonly lateness: { readonly p50: number; readonly p99: number };
  /** Messages from the first due time to the last delivery, a second. */
  readonly perSecond: number;
}

export interface LadderRun {
  readonly url: string;
  /** How long the lowest level holds a message, ms. */
  readonly grain: number;
  readonly messages: number;
  /** The shortest and the longest delay, ms. */
  readonly delays: readonly [shortest: number, longest: number];
  readonly concurrency: number;
}

let runs = 0;

/** Engines of one prefix on a ladder of this grain. */
export function engineWithGrain(url: string, grain: number): Engine {
  return new RabbitmqEngine(readRabbitmqEngineOptions({ url, prefix: `grain-${grain}` }), new Ladder(grain));
}

/** Delivers messages with random delays, scheduled all along, to one consumer. */
export async function measureLadder({ url, grain, messages, delays, concurrency }: LadderRun): Promise<LadderFigures> {
  const ladder = new Ladder(grain);
  const name = `measured-${++runs}`;
  const [shortest, longest] = delays;
  await using producer = engineWithGrain(url, grain);
  await using engine = engineWithGrain(url, grain);
  const lateness: number[] = [];
  let firstDue = Infinity;
  const consumer = new Queue<number>(name, { engine }).consume(
    (delivery) => {
      firstDue = Math.min(firstDue, delivery.dueAt.getTime());
      lateness.push(delivery.lateness);
    },
    { concurrency },
  );
  const queue = new Queue<number>(name, { engine: producer });
  let hops = 0;
  const batch = 20;
  const begin = performance.now();
  const pace = (longest - shortest + 1_000) / (messages / batch);
  for (let sent = 0; sent < messages; sent += batch) {
    const some = Array.from({ length: batch }, () => shortest + Math.random() * (longest - shortest));
    hops += some.reduce((sum, delay) => sum + ladder.descent(delay).hops, 0);
    await Promise.all(some.map((delay, index) => queue.schedule(sent + index, { delay })));
    const ahead = begin + (sent / batch + 1) * pace - performance.now();
    if (ahead > 0) await new Promise((resolve) => setTimeout(resolve, ahead));
  }
  const giveUpAt = performance.now() + longest + 60_000;
  while (lateness.length < messages && performance.now() < giveUpAt)
    await new Promise((resolve) => setTimeout(resolve, 20));
  const perSecond = messages / ((Date.now() - firstDue) / 1_000);
  await consumer.close();
  if (lateness.length < messages) throw new Error(`${messages - lateness.length} messages did not come`);
  lateness.sort((a, b) => a - b);
  const at = (share: number) => lateness[Math.floor((messages - 1) * share)] ?? 0;
  return { hops: hops / messages, lateness: { p50: at(0.5), p99: at(0.99) }, perSecond };
}

/** How often a message was put from one queue into the next on its way down, as the broker wrote it down. */
export async function copiesOf(url: string, grain: number, delay: number): Promise<number> {
  await using engine = engineWithGrain(url, grain);
  const name = `copies-${++runs}`;
  await new Queue<string>(name, { engine }).schedule("x", { delay });
  const connection = await connect(url);
  const channel = await connection.createChannel();
  const work = new Names(`grain-${grain}`).work(name);
  const deaths = await new Promise<readonly { readonly count: number }[]>((resolve, reject) => {
    const consuming = channel.consume(work, (message) => resolve(message?.properties.headers?.["x-death"] ?? []), {
      noAck: true,
    });
    consuming.catch(reject);
  });
  await connection.close();
  return deaths.reduce((sum, { count }) => sum + count, 0);
}
