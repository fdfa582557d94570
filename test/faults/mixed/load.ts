import { setTimeout as sleep } from "node:timers/promises";
import { PunctualError } from "../../../src/errors.js";
import type { Queue } from "../../../src/queue.js";
import { type ChaosMessage, chaosMessage } from "../../chaos/chaos-message.js";
import type { Ledger } from "./ledger.js";

/** How often messages are scheduled, ms. */
const every = 50;
/** How long after a cancel that failed it is repeated, ms. */
const again = 500;

/** Producers: schedules the messages of a run evenly over its whole time, and cancels some. */
export class Load {
  readonly #queue: Queue<Uint8Array>;
  readonly #ledger: Ledger;
  readonly #seed: number;
  readonly #calls = new Set<Promise<void>>();
  #stopped = false;
  /** How many were asked for. */
  asked = 0;

  constructor(queue: Queue<Uint8Array>, ledger: Ledger, seed: number) {
    this.#queue = queue;
    this.#ledger = ledger;
    this.#seed = seed;
  }

  /** Asks for no more. */
  stop(): void {
    this.#stopped = true;
  }

  /** Resolves when all were asked for, or it was stopped, and all was answered. */
  async run(messages: number, lasts: number): Promise<void> {
    const from = performance.now();
    while (this.asked < messages && !this.#stopped) {
      const elapsed = performance.now() - from;
      const wanted = Math.min(messages, Math.ceil((elapsed * messages) / lasts));
      while (this.asked < wanted) this.#begin(this.asked++);
      await sleep(every);
    }
    await Promise.all(this.#calls);
  }

  #begin(number: number): void {
    const message = chaosMessage(this.#seed, number);
    const call = this.#produce(number, message);
    this.#calls.add(call);
    void call.finally(() => this.#calls.delete(call));
  }

  async #produce(number: number, { id, payload, delay, act, attempts, cancelAfter }: ChaosMessage): Promise<void> {
    this.#ledger.asked(number);
    const options = { id, delay, ...(act === "fail-always" ? { attempts } : {}) };
    try {
      const { outcome, dueAt } = await this.#queue.schedule(payload, options);
      this.#ledger.told(number, { outcome, dueAt: dueAt.getTime() });
    } catch (error) {
      this.#ledger.told(number, { failed: codeOf(error) });
    }
    if (cancelAfter === undefined) return;
    await sleep(cancelAfter);
    // One that is due in an hour must be gone in the end, and a cancel that failed is safe to repeat.
    while (!(await this.#cancel(number, id))) await sleep(again);
  }

  async #cancel(number: number, id: string): Promise<boolean> {
    const askedAt = Date.now();
    try {
      this.#ledger.cancelled(number, askedAt, await this.#queue.cancel(id));
      return true;
    } catch (error) {
      this.#ledger.cancelled(number, askedAt, codeOf(error));
      return false;
    }
  }
}

function codeOf(error: unknown): string {
  return error instanceof PunctualError ? error.code : String(error);
}
