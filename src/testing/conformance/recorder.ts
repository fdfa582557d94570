import type { Clock } from "../../clock.js";
import { textCodec } from "../../codec.js";
import type { ConsumeOptions } from "../../consumer/consume-options.js";
import type { Consumer } from "../../consumer/consumer.js";
import type { Delivery } from "../../consumer/delivery.js";
import type { Engine } from "../../engine.js";
import { Queue } from "../../queue.js";
import type { Stage } from "./stage.js";

/** One start of a handler. */
export interface Start {
  readonly id: string;
  readonly payload: string;
  readonly attempt: number;
  readonly attempts: number;
  readonly dueAt: number;
  readonly lateness: number;
  /** When it started, by the clock of its engine. */
  readonly at: number;
}

/** The queue of a stage as programs use it, with payloads that are text. */
export function textQueue(stage: Stage, engine: Engine = stage.harness.engine): Queue<string> {
  return new Queue(stage.name, { engine, codec: textCodec() });
}

/** Handlers that write down what they were given. */
export class Recorder {
  readonly starts: Start[] = [];
  /** How many handlers are at work now, and were at most. */
  running = 0;
  most = 0;
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  get ids(): string[] {
    return this.starts.map((start) => start.id);
  }

  /** How often a message was delivered. */
  count(id: string): number {
    return this.starts.filter((start) => start.id === id).length;
  }

  /**
   * A handler that records, and then does `work`. `clock`: of the engine that delivers; two processes estimate the time of
   * one store a little differently.
   */
  handler(
    work: (delivery: Delivery<string>) => unknown = () => {},
    clock: Clock = this.#stage.queue.clock,
  ): (delivery: Delivery<string>) => Promise<void> {
    return async (delivery) => {
      const { id, payload, attempt, attempts, dueAt, lateness } = delivery;
      this.starts.push({ id, payload, attempt, attempts, dueAt: dueAt.getTime(), lateness, at: clock.now() });
      this.most = Math.max(this.most, ++this.running);
      try {
        await work(delivery);
      } finally {
        this.running--;
      }
    };
  }

  /** A consumer of the stage's queue that is closed when the case ends. */
  consume(
    options: ConsumeOptions & { engine?: Engine; work?: (delivery: Delivery<string>) => unknown } = {},
  ): Consumer<string> {
    const { engine = this.#stage.harness.engine, work, ...rest } = options;
    const { clock } = engine.open(this.#stage.name);
    return this.#stage.keep(textQueue(this.#stage, engine).consume(this.handler(work, clock), rest));
  }

  /** Several consumers, in turn on the one and on the other engine, all of them running. */
  async consumers(count: number, options: ConsumeOptions = {}): Promise<Consumer<string>[]> {
    const { engine, other } = this.#stage.harness;
    const consumers = Array.from({ length: count }, (_, index) =>
      this.consume({ ...options, engine: index % 2 === 0 ? engine : other }),
    );
    await this.#stage.harness.until(
      () => consumers.every((consumer) => consumer.health().state === "running"),
      `${count} consumers are running`,
      5_000,
    );
    return consumers;
  }

  /** Waits until so many deliveries have started. */
  async started(count: number, within = 3_000): Promise<void> {
    await this.#stage.harness.until(() => this.starts.length >= count, `${count} deliveries have started`, within);
  }
}
