import type { RedisEngineOptions } from "../../../src/engines/redis/engine.js";
import { type RawRedis, rawRedis } from "../../support/raw-redis.js";
import { StallWatch } from "../../support/stall-watch.js";
import { SteppedRedis } from "../../support/stepped-redis.js";
import { FaultStage } from "./fault-stage.js";
import type { RecordedConsumer } from "./recorded-consumer.js";

/** How long after a claim its reply is heard, ms, besides the stalls that are seen. */
const heardWithin = 1_000;

/** Three consumers on a Redis whose clock steps. */
export class SteppedStage implements AsyncDisposable {
  readonly clock: SteppedRedis;
  readonly on: FaultStage;
  readonly consumers: readonly RecordedConsumer[];
  readonly stall: StallWatch;
  /** Access to Redis past the proxy. */
  readonly raw: RawRedis;

  private constructor(clock: SteppedRedis, on: FaultStage, raw: RawRedis) {
    this.clock = clock;
    this.on = on;
    this.raw = raw;
    this.stall = new StallWatch(() => raw.command("PING"));
    this.consumers = ["a", "b", "c"].map((name) => on.consumer({ name }));
  }

  /**
   * All consumers run.
   * @param library What moves the clock.
   * @param ahead How far the clock of Redis is ahead, ms.
   */
  static async start(library: string, ahead: number, client: RedisEngineOptions["library"]): Promise<SteppedStage> {
    const clock = await SteppedRedis.start(library, ahead);
    const on = await FaultStage.on(clock.server, "orders", client);
    const stage = new SteppedStage(clock, on, await rawRedis(clock.server.url));
    try {
      await stage.on.running(...stage.consumers);
      return stage;
    } catch (error) {
      await stage[Symbol.asyncDispose]();
      throw error;
    }
  }

  get history() {
    return this.on.history;
  }

  get producer() {
    return this.on.producer;
  }

  /** One consumer has a message in hand, "held". Gives who. */
  async held(): Promise<string> {
    await this.producer.schedule("held", "hold", 0);
    return (await this.history.until(() => this.history.start("held"), "somebody has it")).consumer;
  }

  letGo(): void {
    for (const consumer of this.consumers) consumer.letGo();
  }

  /**
   * Messages that started before they were due by the clock of Redis.
   * @param within How long after a claim its reply is heard at the latest, ms.
   */
  early(within = heardWithin + this.stall.longest()): string[] {
    const all = [...this.history.starts.values()].flat();
    return all.filter(({ at, dueAt }) => dueAt > this.clock.latest(at, within)).map(({ id }) => id);
  }

  /** What is wrong with the run but for due times, which the checker holds against the clock of this machine. */
  async otherProblems() {
    const { asked, entries, starts } = this.history;
    for (const [place, entry] of entries.entries()) {
      if (entry.kind !== "health" || entry.lastClaimAt === undefined) continue;
      entries[place] = { ...entry, lastClaimAt: this.clock.here(entry.lastClaimAt, entry.at) };
    }
    for (const [id, { told, ...rest }] of asked) {
      asked.set(id, { ...rest, earliest: 0, ...(told && { told: "dueAt" in told ? { ...told, dueAt: 0 } : told }) });
    }
    for (const [id, deliveries] of starts) {
      const undated = deliveries.map((start) => ({ ...start, dueAt: 0 }));
      starts.set(id, undated);
    }
    return this.on.problems({ leasesMayEnd: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stall[Symbol.asyncDispose]();
    this.raw.close();
    await this.on[Symbol.asyncDispose]();
    await this.clock[Symbol.asyncDispose]();
  }
}
