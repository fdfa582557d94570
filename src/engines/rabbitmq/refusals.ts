import type { EngineQueue } from "../../engine.js";
import type { PunctualError } from "../../errors.js";
import { unsupported } from "../../unsupported.js";

/** What this engine cannot do, each with the reason. */
const reasons = {
  cancel: "a broker cannot take back a message that it has: it knows no ids",
  reschedule: "a broker cannot move a message that waits: it knows no ids",
  get: "a broker cannot look for a message: it knows no ids",
  list: "a broker shows no message without handing it out",
  audit: "a broker shows nobody how it keeps its messages",
  repair: "a broker shows nobody how it keeps its messages",
  pause: "a broker has no switch that holds back the messages of a queue from all its consumers",
  resume: "a broker has no switch that holds back the messages of a queue from all its consumers",
} as const satisfies Partial<Record<keyof EngineQueue, string>>;

/** The operations of the contract that a broker has nothing for. Of nothing they answer nothing. */
export abstract class Refusals {
  async cancel(ids: readonly string[]): Promise<never[]> {
    return this.#nothing("cancel", ids.length);
  }
  async reschedule(changes: readonly unknown[]): Promise<never[]> {
    return this.#nothing("reschedule", changes.length);
  }
  async get(ids: readonly string[]): Promise<never[]> {
    return this.#nothing("get", ids.length);
  }
  async list(): Promise<never> {
    throw this.#refuse("list");
  }
  async audit(): Promise<never> {
    throw this.#refuse("audit");
  }
  async repair(): Promise<never> {
    throw this.#refuse("repair");
  }
  async pause(): Promise<never> {
    throw this.#refuse("pause");
  }
  async resume(): Promise<never> {
    throw this.#refuse("resume");
  }

  protected abstract refuseWhenClosed(): void;

  #nothing(operation: keyof typeof reasons, items: number): never[] {
    this.refuseWhenClosed();
    if (items > 0) throw this.#refuse(operation);
    return [];
  }

  #refuse(operation: keyof typeof reasons): PunctualError {
    this.refuseWhenClosed();
    return unsupported("rabbitmq", operation, reasons[operation], { operation });
  }
}
