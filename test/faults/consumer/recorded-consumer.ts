import type { Consumer, CloseOptions } from "../../../src/consumer/consumer.js";
import type { Delivery } from "../../../src/consumer/delivery.js";
import { PunctualError } from "../../../src/errors.js";
import type { Queue } from "../../../src/queue.js";
import type { Entry, Settled } from "./history.js";
import { blockedFor, type Plan, type Task } from "./task.js";

/** Something that consumes and tells of it: in this process or as a child. */
export interface Subject {
  readonly name: string;
  /** How many messages it works on at once. */
  readonly concurrency: number;
  /** Lets go what is held now. */
  letGo(): void;
}

export interface RecordedOptions {
  readonly name: string;
  readonly concurrency?: number;
  /** ms. Default 30,000, so that no lease ends in a fault. */
  readonly lease?: number;
  /** What it does with every message, whatever that asks for. */
  readonly plan?: Plan;
}

type Unsigned<E> = E extends Entry ? Omit<E, "consumer" | "at"> : never;

/** How often health is looked at, ms. */
const healthEvery = 10;

/** A consumer that does what messages ask for and writes down what it was given and told. */
export class RecordedConsumer implements Subject, AsyncDisposable {
  readonly name: string;
  readonly concurrency: number;
  readonly consumer: Consumer<Task>;
  readonly #write: (entry: Entry) => void;
  readonly #held = new Set<() => void>();
  /** Ids that failed or were released here. */
  readonly #once = new Set<string>();
  readonly #plan: Plan | undefined;
  readonly #healthTimer: NodeJS.Timeout;
  #lastHealth = "";

  constructor(
    queue: Queue<Task>,
    { name, concurrency = 20, lease = 30_000, plan }: RecordedOptions,
    write: (entry: Entry) => void,
  ) {
    this.name = name;
    this.concurrency = concurrency;
    this.#plan = plan;
    this.#write = write;
    this.consumer = queue
      .consume((message) => this.#handle(message), { concurrency, lease, retry: { attempts: 10, backoff: () => 30 } })
      .on("acknowledged", (message) => this.#settled(message, "acknowledged"))
      .on("retried", (message) => this.#settled(message, "retried"))
      .on("buried", (message) => this.#settled(message, "buried"))
      .on("leaseLost", ({ id, attempt }, { code }) => this.#tell({ kind: "lost", id, attempt, code }))
      .on("recovered", () => this.#tell({ kind: "recovered" }))
      .on("error", (error, message) => this.#tell({ kind: "failed", code: codeOf(error), id: message?.id }));
    this.#healthTimer = setInterval(() => this.#lookAtHealth(), healthEvery);
  }

  letGo(): void {
    for (const release of this.#held) release();
    this.#held.clear();
  }

  async close(options?: CloseOptions): Promise<void> {
    await this.consumer.close(options);
    clearInterval(this.#healthTimer);
    this.#lookAtHealth();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.letGo();
    await this.close({ timeout: 0 });
  }

  async #handle(message: Delivery<Task>): Promise<void> {
    const { id, attempt, payload } = message;
    this.#tell({ kind: "started", id, attempt, dueAt: message.dueAt.getTime(), task: payload });
    switch (this.#plan ?? payload.plan) {
      case "succeed":
        return;
      case "fail-once":
        if (this.#isFirst(id)) throw new Error(`as planned: ${payload.text}`);
        return;
      case "release-once":
        if (!this.#isFirst(id)) return;
        await this.#byHand(message, "released", () => message.release());
        return;
      case "bury":
        await this.#byHand(message, undefined, () => message.bury("as planned"));
        return;
      case "extend":
        if (await this.#byHand(message, undefined, () => message.extend("60s"))) this.#tell({ kind: "extended", id });
        await this.#hold(message);
        return;
      case "hold":
        await this.#hold(message);
        return;
      case "block":
        if (attempt === 1) for (const until = performance.now() + blockedFor; performance.now() < until;);
        await this.#byHand(message, undefined, () => message.acknowledge());
    }
  }

  async #hold(message: Delivery<Task>): Promise<void> {
    await new Promise<void>((resolve) => this.#held.add(resolve));
    await this.#byHand(message, undefined, () => message.acknowledge());
  }

  /** A settlement that fails is written down; events tell of those that succeed, but not of a release. */
  async #byHand(message: Delivery<Task>, how: Settled | undefined, settle: () => Promise<void>): Promise<boolean> {
    try {
      await settle();
      if (how !== undefined) this.#settled(message, how);
      return true;
    } catch (error) {
      this.#tell({ kind: "refused", id: message.id, code: codeOf(error) });
      return false;
    }
  }

  #isFirst(id: string): boolean {
    if (this.#once.has(id)) return false;
    this.#once.add(id);
    return true;
  }

  #settled(message: { readonly id: string; readonly attempt?: number }, how: Settled): void {
    this.#tell({ kind: "settled", id: message.id, attempt: message.attempt ?? 0, how });
  }

  #lookAtHealth(): void {
    const { state, lastClaimAt } = this.consumer.health();
    const health = { kind: "health", state, lastClaimAt: lastClaimAt?.getTime() } as const;
    const text = JSON.stringify(health);
    if (text !== this.#lastHealth) this.#tell(health);
    this.#lastHealth = text;
  }

  #tell(entry: Unsigned<Entry>): void {
    this.#write({ ...entry, consumer: this.name, at: Date.now() });
  }
}

export function codeOf(error: unknown): string {
  return error instanceof PunctualError ? error.code : String(error);
}
