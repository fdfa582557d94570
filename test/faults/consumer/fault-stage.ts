import { redisEngine } from "../../../src/engines/redis/engine.js";
import { queueKeys } from "../../../src/engines/redis/keys.js";
import type { Engine } from "../../../src/engine.js";
import { Queue } from "../../../src/queue.js";
import { type RedisServer, type RedisServerOptions, startRedisServer } from "../../../src/testing/redis-server.js";
import { FaultProxy } from "../../support/fault-proxy.js";
import { type RawRedis, rawRedis } from "../../support/raw-redis.js";
import { type CheckOptions, problemsOf } from "./checker.js";
import { History } from "./history.js";
import { Producer } from "./producer.js";
import { RecordedConsumer, type RecordedOptions, type Subject } from "./recorded-consumer.js";
import { remainsOf } from "./remains.js";
import type { Task } from "./task.js";
import { WorkerProcess } from "./worker-process.js";

/** How long after a fault has passed every consumer works again (promise 10), ms. */
const comesBackWithin = 5_000;

/** A Redis behind a proxy, producers and consumers of one queue, and all that they say. */
export class FaultStage implements AsyncDisposable {
  readonly server: RedisServer;
  readonly proxy: FaultProxy;
  readonly name: string;
  readonly history = new History();
  /** The queue through the proxy, and one who uses it. */
  readonly queue: Queue<Task>;
  readonly producer: Producer;
  readonly #engines: Engine[] = [];
  readonly #consumers: RecordedConsumer[] = [];
  readonly #workers: WorkerProcess[] = [];
  readonly #ownsServer: boolean;
  #probes = 0;

  private constructor(server: RedisServer, proxy: FaultProxy, name: string, ownsServer: boolean) {
    this.server = server;
    this.proxy = proxy;
    this.name = name;
    this.#ownsServer = ownsServer;
    this.queue = new Queue<Task>(name, { engine: this.#engine(proxy.url) });
    this.producer = new Producer(this.queue, this.history);
  }

  /** With a Redis of its own, which keeps what it confirmed. */
  static async start(options: RedisServerOptions = { aof: true }): Promise<FaultStage> {
    const server = await startRedisServer(options);
    return new FaultStage(server, await FaultProxy.start(server.port), "orders", true);
  }

  /** On a Redis that others use, too. */
  static async on(server: RedisServer, name: string): Promise<FaultStage> {
    return new FaultStage(server, await FaultProxy.start(server.port), name, false);
  }

  /** A consumer with connections of its own, through the proxy unless another way is given. */
  consumer(options: RecordedOptions, url = this.proxy.url): RecordedConsumer {
    const queue = new Queue<Task>(this.name, { engine: this.#engine(url) });
    const consumer = new RecordedConsumer(queue, options, this.history.add);
    this.#consumers.push(consumer);
    return consumer;
  }

  /** A consumer in a process of its own. */
  worker(program: string, options: RecordedOptions, url = this.server.url): WorkerProcess {
    const worker = new WorkerProcess(program, { ...options, url, queue: this.name }, this.history.add);
    this.#workers.push(worker);
    return worker;
  }

  /** Consumers of this process that were not closed. */
  get open(): readonly RecordedConsumer[] {
    return this.#consumers.filter(({ consumer }) => consumer.health().state !== "closed");
  }

  /** Waits until these are running. */
  async running(...subjects: readonly Subject[]): Promise<void> {
    const allRun = () => subjects.every(({ name }) => this.history.health.get(name)?.state === "running");
    await this.history.until(allRun, `${subjects.map(({ name }) => name).join(", ")} are running`, comesBackWithin);
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

  /**
   * Every consumer gets a message that was scheduled now, and says that it is running, within 5 s of the time given: there
   * are so many that they fill all of them, and none is let go before each consumer has one. Name all that there are.
   */
  async everyoneWorks(subjects: readonly Subject[], healedAt = Date.now()): Promise<void> {
    const round = `probe-${++this.#probes}`;
    const places = subjects.reduce((sum, { concurrency }) => sum + concurrency, 0);
    const ids = Array.from({ length: places }, (_, index) => `${round}.${index}`);
    const scheduled = this.producer.scheduleAll(ids.map((id) => ({ id, plan: "hold", delay: 0 })));
    const { history } = this;
    const haveOne = () => new Set(ids.map((id) => history.start(id)?.consumer));
    const left = () => healedAt + comesBackWithin - Date.now();
    await history.until(() => subjects.every(({ name }) => haveOne().has(name)), "every consumer works", left());
    const allRun = () => subjects.every(({ name }) => history.health.get(name)?.state === "running");
    await history.until(allRun, "every consumer says that it is running", left());
    await scheduled;
    const letGo = setInterval(() => subjects.forEach((subject) => subject.letGo()), 20);
    try {
      await history.until(() => history.isAcknowledged(...ids), "the probes are acknowledged");
    } finally {
      clearInterval(letGo);
    }
  }

  /** What is wrong with the run so far; nothing may be under way. */
  async problems(options?: CheckOptions): Promise<string[]> {
    await using engine = redisEngine({ url: `unix://${this.server.socketPath}` });
    const queue = new Queue(this.name, { engine });
    const [counts, { problems }] = await Promise.all([queue.counts(), queue.audit()]);
    const found = problems.map(({ id, detail }) => `${detail}: ${id}`);
    return problemsOf(
      this.history,
      await this.raw((raw) => remainsOf(raw, queueKeys("punctual", this.name), { counts, found })),
      options,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.proxy.heal();
    this.server.continue();
    await Promise.all(this.#workers.map((worker) => worker.kill()));
    await Promise.all(this.#consumers.map((consumer) => consumer[Symbol.asyncDispose]()));
    await Promise.all(this.#engines.map((engine) => engine.close()));
    await this.proxy[Symbol.asyncDispose]();
    if (this.#ownsServer) await this.server.stop();
  }

  #engine(url: string): Engine {
    const engine = redisEngine({ url });
    this.#engines.push(engine);
    return engine;
  }
}
