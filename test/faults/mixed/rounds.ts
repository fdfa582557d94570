import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../../demo/seeded-random.js";
import { PunctualError } from "../../../src/errors.js";
import type { Queue } from "../../../src/queue.js";
import type { Crew } from "./crew.js";
import type { Fault, Ground, Struck } from "./fault.js";
import type { Ledger } from "./ledger.js";

/** How long after a fault has passed every consumer works again (promise 10), ms. */
const comesBackWithin = 5_000;
/** When nobody hopes any more that somebody works again, ms. */
const hopeless = 30_000;

export interface RoundsOptions {
  readonly ground: Ground;
  readonly crew: Crew;
  readonly queue: Queue<Uint8Array>;
  readonly ledger: Ledger;
  readonly say: (line: string) => void;
}

/** Faults one after the other, and after each of them a look whether everybody works again. */
export class FaultRounds {
  /** How long it took until everybody worked again, ms, by the name of the fault. */
  readonly recoveries = new Map<string, number[]>();
  readonly #options: RoundsOptions;
  #probes = 0;

  constructor(options: RoundsOptions) {
    this.#options = options;
  }

  /** Has these happen at once, and waits until everything is whole again. */
  async run(faults: readonly Fault[], random: Random): Promise<void> {
    const { ground, ledger, say } = this.#options;
    const names = faults.map(({ name }) => name).join(", ");
    if (!faults.every(({ isHarmless }) => isHarmless === true)) ledger.lateness.trouble();
    const struck = await Promise.all(faults.map((fault) => fault.strike(random)));
    // Whoever looks whether everybody works makes others wait.
    ledger.lateness.trouble();
    for (const one of struck) this.#healthIsTrue(one, names);
    // One that is no primary any more confirms what it will forget until it hears of that, however soon all others work.
    const losses = struck.flatMap(({ lossesFrom: from }) => (from === undefined ? [] : [{ from, to: Infinity }]));
    ledger.losses.push(...losses);
    const took = await this.everyoneWorks(names, Math.max(...struck.map(({ healedAt }) => healedAt)));
    for (const { name } of faults) this.recoveries.set(name, [...(this.recoveries.get(name) ?? []), took]);
    say(`${names}: all work again after ${(took / 1_000).toFixed(2)} s`);
    await ground.restore();
    // Nobody believes one that wakes up and takes itself for the primary still.
    if (losses.length > 0) await this.everyoneWorks(`${names}, and what was replaced came back`, Date.now());
    for (const loss of losses) loss.to = Date.now();
    ledger.lateness.calm(Date.now());
    await sleep(300 + random() * 900);
  }

  /**
   * Every consumer gets a message that was scheduled now: there are so many that they fill all of them, and none is let go before
   * each has one. And each says that it is running. Gives how long that took since `healedAt`, ms.
   */
  async everyoneWorks(after: string, healedAt: number): Promise<number> {
    const { crew, ledger } = this.#options;
    const round = `probe-${++this.#probes}.`;
    const working = new Set<unknown>();
    const everyone = crew.until(
      (process, saying) => {
        if (saying.kind === "started" && saying.id.startsWith(round)) working.add(process);
        return crew.processes.every((one) => working.has(one) && one.isRunning);
      },
      hopeless,
      `every consumer works after ${after}`,
    );
    let took = hopeless;
    const over = new AbortController();
    const scheduling = this.#scheduleProbes(round, over.signal);
    try {
      // One that fails ends the wait; else it goes on until everyone has one.
      await Promise.race([everyone, scheduling.then(() => everyone)]);
      took = Math.max(0, Date.now() - healedAt);
    } catch (error) {
      ledger.broken("I10", String(error));
    }
    over.abort();
    await scheduling;
    if (took > comesBackWithin && took < hopeless) ledger.broken("I10", `${took} ms until all worked after ${after}`);
    await this.#letGo(round);
    return took;
  }

  /** Again and again until it is over: Redis may forget in a failover what it has confirmed, and then too few are left. */
  async #scheduleProbes(round: string, over: AbortSignal): Promise<void> {
    const probes = Array.from({ length: this.#options.crew.places }, (_, n) => ({
      payload: new Uint8Array(),
      id: `${round}${n}`,
      delay: 0,
    }));
    while (!over.aborted) {
      try {
        await this.#options.queue.scheduleMany(probes);
        await sleep(1_000, undefined, { signal: over }).catch(() => {});
      } catch (error) {
        // As long as it takes: how long is what is measured.
        if (!(error instanceof PunctualError)) throw error;
        await sleep(50);
      }
    }
  }

  /** Lets probes go until none of the round is left, however many other messages are due before them. */
  async #letGo(round: string): Promise<void> {
    const { crew, queue } = this.#options;
    const left = new Set(Array.from({ length: crew.places }, (_, n) => `${round}${n}`));
    const last = performance.now() + hopeless;
    while (left.size > 0 && performance.now() < last) {
      crew.letGo();
      await sleep(20);
      const look = async (id: string) => (await queue.get(id)) === undefined && left.delete(id);
      await Promise.all(Array.from(left, (id) => look(id).catch(() => false)));
    }
  }

  /** No consumer called itself running at the end of an outage that was long enough to be noticed. */
  #healthIsTrue({ outage }: Struck, names: string): void {
    if (outage === undefined || outage.to - outage.from < outage.noticedWithin) return;
    for (const process of this.#options.crew.processes) {
      if (process.killed || process.wasAway(outage.from, outage.to)) continue;
      if (process.stateAt(outage.to) === "running") {
        this.#options.ledger.broken("I10", `${process.name} called itself running in an outage: ${names}`);
      }
    }
  }
}
