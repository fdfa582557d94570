import { type RedisEngineOptions, redisEngine } from "../../../src/engines/redis/engine.js";
import { queueKeys } from "../../../src/engines/redis/keys.js";
import { Queue } from "../../../src/queue.js";
import { type RedisServer, type RedisServerOptions, startRedisServer } from "../../../src/testing/redis-server.js";
import { FaultProxy } from "../../support/fault-proxy.js";
import { type RawRedis, rawRedis } from "../../support/raw-redis.js";
import { type CheckOptions, type Problem, problemsOf } from "./checker.js";
import { QueueStage } from "./queue-stage.js";
import type { RecordedOptions } from "./recorded-consumer.js";
import { remainsOf } from "./remains.js";
import { WorkerProcess } from "./worker-process.js";

type Library = RedisEngineOptions["library"];

/** A Redis behind a proxy, producers and consumers of one queue, and all that they say. */
export class FaultStage extends QueueStage {
  readonly server: RedisServer;
  readonly proxy: FaultProxy;
  readonly #workers: WorkerProcess[] = [];
  readonly #ownsServer: boolean;

  private constructor(server: RedisServer, proxy: FaultProxy, name: string, ownsServer: boolean, library?: Library) {
    super(name, () => redisEngine({ url: proxy.url, library }));
    this.server = server;
    this.proxy = proxy;
    this.#ownsServer = ownsServer;
  }

  /** With a Redis of its own, which keeps what it confirmed. */
  static async start(options: RedisServerOptions = { aof: true }): Promise<FaultStage> {
    const server = await startRedisServer(options);
    return new FaultStage(server, await FaultProxy.start(server.port), "orders", true);
  }

  /** On a Redis that others use, too. */
  static async on(server: RedisServer, name: string, library: Library): Promise<FaultStage> {
    return new FaultStage(server, await FaultProxy.start(server.port), name, false, library);
  }

  /** A consumer in a process of its own. */
  worker(program: string, options: RecordedOptions, url = this.server.url): WorkerProcess {
    const worker = new WorkerProcess(program, { ...options, url, queue: this.name }, this.history.add);
    this.#workers.push(worker);
    return worker;
  }

  /** Speaks to Redis past the proxy. */
  async raw<Result>(work: (raw: RawRedis) => Promise<Result>): Promise<Result> {
    await using raw = await rawRedis(`unix://${this.server.socketPath}`);
    return await work(raw);
  }

  /** From `fault` to `heal` nobody is answered. Gives when it healed. */
  async outage(noticedWithin: number, fault: () => unknown, lasts: () => Promise<unknown>, heal: () => unknown) {
    await fault();
    const from = Date.now();
    await lasts();
    this.history.outages.push({ from, to: Date.now(), noticedWithin });
    await heal();
    return Date.now();
  }

  /** What is wrong with the run so far; nothing may be under way. */
  async problems(options?: CheckOptions): Promise<Problem[]> {
    await using engine = redisEngine({ url: `unix://${this.server.socketPath}` });
    const queue = new Queue(this.name, { engine });
    const [counts, { problems: found }] = await Promise.all([queue.counts(), queue.audit()]);
    return problemsOf(
      this.history,
      await this.raw((raw) => remainsOf(raw, queueKeys("punctual", this.name), { counts, found })),
      options,
    );
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    this.proxy.heal();
    this.server.continue();
    await Promise.all(this.#workers.map((worker) => worker.kill()));
    await super[Symbol.asyncDispose]();
    await this.proxy[Symbol.asyncDispose]();
    if (this.#ownsServer) await this.server.stop();
  }
}
