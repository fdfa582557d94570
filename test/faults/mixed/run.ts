import { monitorEventLoopDelay } from "node:perf_hooks";
import { type Random, seededRandom } from "../../../demo/seeded-random.js";
import { binaryCodec } from "../../../src/codec.js";
import { redisEngine } from "../../../src/engines/redis/engine.js";
import { Queue } from "../../../src/queue.js";
import { Crew } from "./crew.js";
import { drained, remainsIn } from "./drain.js";
import type { Fault } from "./fault.js";
import { type Client, groundOf, type Topology } from "./grounds.js";
import { Ledger } from "./ledger.js";
import { Load } from "./load.js";
import { processFaults } from "./process-faults.js";
import { engineOptions } from "./reach.js";
import { FaultRounds } from "./rounds.js";
import { type Figures, figuresOf } from "./figures.js";

export interface MixedOptions {
  readonly topology: Topology;
  readonly client: Client;
  /** How long it goes on, at least. */
  readonly seconds: number;
  /** How many times something goes wrong at least, however long that takes. Default 0. */
  readonly rounds?: number;
  readonly messages: number;
  /** What becomes of each message, and which faults come when in which order, follows from it. */
  readonly seed: number;
  /** Into how many partitions the queue is split. */
  readonly partitions: number;
  /** The built program of the consumers. */
  readonly program: string;
  /** Each kind of fault once, one at a time, instead of a mixture for the whole time. */
  readonly each?: boolean;
  /** Hears what happens. */
  readonly log?: ((line: string) => void) | undefined;
}

const queueName = "mixed";
const consumers = 3;
const concurrency = 20;
/** Ids of what is gone stay known for so long, so that what is repeated in an outage is stored once. */
const rememberFor = "2m";
/** How often what has ended is judged, ms. */
const sweepEvery = 1_000;

/**
 * Producers and consumers at work for the whole time, while faults of all kinds come one after the other, some two at once. After
 * each everybody must work again. Then all is delivered, and every message is accounted for.
 */
export async function runMixed(options: MixedOptions): Promise<Figures> {
  const { topology, client, seconds, rounds: least = 0, messages, seed, partitions, program, log = () => {} } = options;
  const startedAt = performance.now();
  await using ground = await groundOf(topology, { client, partitions, queue: queueName });
  const ledger = new Ledger(seed, messages);
  await using engine = redisEngine({ ...engineOptions(ground.reach), onWarning: () => {} });
  const queue = new Queue<Uint8Array>(queueName, { engine, codec: binaryCodec(), rememberFor });
  const crewOptions = { reach: ground.reach, queue: queueName, seed, messages, concurrency };
  await using crew = new Crew(program, consumers, crewOptions, ledger);
  const load = new Load(queue, ledger, seed);
  const say = (line: string) => {
    const at = ((performance.now() - startedAt) / 1_000).toFixed(1).padStart(6);
    log(`${at} s  ${ledger.delivered.toLocaleString("en").padStart(9)} delivered  ${line}`);
  };
  const rounds = new FaultRounds({ ground, crew, queue, ledger, say });
  const random = seededRandom(seed);
  const ofProcesses = processFaults(crew);
  const stalls = monitorEventLoopDelay();
  stalls.enable();
  await rounds.everyoneWorks("the start", Date.now());

  const from = performance.now();
  let lasted = seconds;
  const producing = load.run(messages, seconds * 1_000);
  const sweeping = setInterval(() => ledger.sweep(), sweepEvery);
  try {
    if (options.each) {
      for (const kind of [...ground.faults, ...ofProcesses]) await rounds.run([kind], random);
      load.stop();
    } else {
      let done = 0;
      for (const some of mixture(ground.faults, ofProcesses, random)) {
        if (performance.now() > from + seconds * 1_000 && done >= least) break;
        await rounds.run(some, random);
        done += 1;
      }
    }
    await producing;
    lasted = (performance.now() - from) / 1_000;
    say("draining");
    await drained(queue, crew);
  } finally {
    load.stop();
    clearInterval(sweeping);
    stalls.disable();
  }
  const remains = await remainsIn(queue);
  await crew.close();
  for (const sentence of remains.found) ledger.broken("I9", sentence);
  for (const name of crew.failed) ledger.broken("–", `${name} ended by itself`);
  // ns.
  ledger.finish(remains, { stalled: stalls.max / 1e6 });
  return figuresOf({ topology, client, partitions, seed, seconds: lasted }, { ledger, rounds, asked: load.asked });
}

/**
 * Kinds of faults for ever: each once, in any order, before one comes again. Now and then a process has its own while servers or
 * connections have theirs.
 */
function* mixture(ofGround: readonly Fault[], ofProcesses: readonly Fault[], random: Random): Generator<Fault[]> {
  for (;;) {
    const kinds = [...ofGround, ...ofProcesses].map((kind) => ({ kind, place: random() }));
    for (const { kind } of kinds.toSorted((one, other) => one.place - other.place)) {
      const beside = ofProcesses[Math.floor(random() * 5 * ofProcesses.length)];
      yield beside === undefined || ofProcesses.includes(kind) ? [kind] : [kind, beside];
    }
  }
}
