import type { Engine } from "../../../src/engine.js";
import { Queue } from "../../../src/queue.js";
import { History } from "./history.js";
import { Producer } from "./producer.js";
import { RecordedConsumer, type RecordedOptions, type Subject } from "./recorded-consumer.js";
import type { Task } from "./task.js";

/** How long after a fault has passed every consumer works again (promise 10), ms. */
const comesBackWithin = 5_000;
/** How long a first connection may take on a machine that does much else, ms. */
const startsWithin = 15_000;

/** Producers and consumers of one queue, each consumer with an engine of its own, and all that they say. */
export class QueueStage implements AsyncDisposable {
  readonly name: string;
  readonly history = new History();
  /** The queue as the producer has it. */
  readonly queue: Queue<Task>;
  readonly producer: Producer;
  readonly #connect: () => Engine;
  readonly #engines: Engine[] = [];
  readonly #consumers: RecordedConsumer[] = [];
  #probes = 0;

  /** @param connect Makes an engine. */
  constructor(name: string, connect: () => Engine) {
    this.name = name;
    this.#connect = connect;
    this.queue = new Queue<Task>(name, { engine: this.#engine() });
    this.producer = new Producer(this.queue, this.history);
  }

  /** A consumer with connections of its own, made in the way of all others unless another is given. */
  consumer(options: RecordedOptions, connect = this.#connect): RecordedConsumer {
    const queue = new Queue<Task>(this.name, { engine: this.#engine(connect) });
    const consumer = new RecordedConsumer(queue, options, this.history.add);
    this.#consumers.push(consumer);
    return consumer;
  }

  /** Consumers of this process that were not closed. */
  get open(): readonly RecordedConsumer[] {
    return this.#consumers.filter(({ consumer }) => consumer.health().state !== "closed");
  }

  /** Waits until these are running. */
  async running(...subjects: readonly Subject[]): Promise<void> {
    const allRun = () => subjects.every(({ name }) => this.history.health.get(name)?.state === "running");
    await this.history.until(allRun, `${subjects.map(({ name }) => name).join(", ")} are running`, startsWithin);
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

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#consumers.map((consumer) => consumer[Symbol.asyncDispose]()));
    await Promise.all(this.#engines.map((engine) => engine.close()));
  }

  #engine(connect = this.#connect): Engine {
    const engine = connect();
    this.#engines.push(engine);
    return engine;
  }
}
