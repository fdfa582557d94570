import { redisEngine, type RedisEngineOptions } from "../../../src/engines/redis/engine.js";
import { queueKeys } from "../../../src/engines/redis/keys.js";
import { rawRedis } from "../../support/raw-redis.js";
import { eventually } from "../../support/topologies/eventually.js";
import { type CheckOptions, type Problem, problemsOf } from "../consumer/checker.js";
import { Load } from "../consumer/load.js";
import { QueueStage } from "../consumer/queue-stage.js";
import type { RecordedConsumer } from "../consumer/recorded-consumer.js";
import { remainsOf } from "../consumer/remains.js";
import { replicated } from "./replicated.js";

let stages = 0;

/**
 * The time in which what a primary confirmed may not have reached the one that took over, Unix ms. Redis replicates after it has
 * answered, so a failover can lose what was confirmed just before; what was lost then is not ours to keep.
 */
export interface LossWindow {
  readonly from: number;
  readonly to: number;
}

/** Producers and three consumers of one queue on several servers, of which one serves it at a time. */
export class TopologyStage extends QueueStage {
  readonly consumers: readonly RecordedConsumer[];
  readonly #primary: () => Promise<string>;

  /** @param primary Gives the URL of the server that has the queue now. */
  constructor(options: RedisEngineOptions, primary: () => Promise<string>) {
    super(`orders-${++stages}`, () => redisEngine(options));
    this.#primary = primary;
    // Where a failover loses that a message was settled, it is done again when its lease ends.
    this.consumers = ["a", "b", "c"].map((name) => this.consumer({ name, lease: 2_000 }));
  }

  /** Any key of the queue. */
  get key(): string {
    return this.#keys.state;
  }

  get #keys() {
    return queueKeys("punctual", this.name);
  }

  /** 2,000 messages that come due all the time, and are under way when it resolves. */
  async load(): Promise<Load> {
    await this.running(...this.consumers);
    const load = await Load.start(this, { messages: 2_000, lasts: 2_500 });
    await this.history.until(() => this.history.acknowledged.size > 200, "the load is under way");
    return load;
  }

  /**
   * Runs what makes another server the primary, and sees that every consumer works again within 5 s. Gives the time of losses.
   * @param silence How long after the fault the 5 s begin at the earliest, ms.
   */
  async survives(failover: () => Promise<unknown>, silence = 0): Promise<LossWindow> {
    const from = await replicated(await this.#primary(), this.key);
    await failover();
    const healedAt = Math.max(Date.now(), from + silence);
    await this.everyoneWorks(this.consumers, healedAt);
    const lost = this.consumers.map(
      ({ name }) => this.history.of("recovered", { consumer: name }).at(-1)?.at ?? healedAt,
    );
    return { from, to: Math.max(healedAt, ...lost) };
  }

  /** Waits until everything was asked for and nothing is left to do. */
  async drained(load: Load): Promise<void> {
    await load.over();
    await eventually("a queue in which nothing is left to do", async () => {
      const soon = new Date(Date.now() + 600_000);
      const [{ due, leased }, { messages }] = await Promise.all([
        this.queue.counts(),
        this.queue.list({ state: "scheduled", to: soon, limit: 1 }),
      ]);
      return due + leased + messages.length === 0 || undefined;
    });
  }

  /** What is wrong with the run, beyond what Redis may have lost in a failover. */
  async problems(losses?: LossWindow): Promise<Problem[]> {
    const [counts, { problems: found }] = await Promise.all([this.queue.counts(), this.queue.audit()]);
    await using raw = await rawRedis(await this.#primary());
    const remains = await remainsOf(raw, this.#keys, { counts, found });
    const excused = losses === undefined ? {} : { excused: this.#touchedIn(losses) };
    const options: CheckOptions = { leasesMayEnd: true, schedulesRepeat: true, ...excused };
    return problemsOf(this.history, remains, options);
  }

  /** Whether something was told of a message in this time, so that Redis may have forgotten it. */
  #touchedIn({ from, to }: LossWindow): (id: string) => boolean {
    const within = (at: number | undefined) => at !== undefined && at >= from && at <= to;
    const touched = new Set(
      this.history.entries.flatMap((entry) => ("id" in entry && within(entry.at) ? [entry.id] : [])),
    );
    for (const [id, { toldAt, cancelled }] of this.history.asked) {
      if (within(toldAt) || within(cancelled?.at)) touched.add(id);
    }
    return (id) => touched.has(id);
  }
}
