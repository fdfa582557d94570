import { CommandFailure } from "./port.js";
import { refusal } from "./server-reply.js";

/** Whether a connection lives, who hears of its end, and what a failure on it means; the same for every client library. */
export class ConnectionLife {
  readonly #close: () => void;
  readonly #listeners = new Set<(cause: Error) => void>();
  #lostBy: Error | undefined;
  #destroyed = false;

  /** @param close Closes the socket at once; called once. */
  constructor(close: () => void) {
    this.#close = close;
  }

  /** @returns Ends the listening. */
  onLost(listener: (cause: Error) => void): () => void {
    if (this.#lostBy !== undefined) listener(this.#lostBy);
    else this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The connection is of no more use. An adapter says so before the library rejects the commands that wait. */
  lose(cause: Error): void {
    if (this.#destroyed || this.#lostBy !== undefined) return;
    this.#lostBy = cause;
    for (const listener of this.#listeners) listener(cause);
    this.destroy();
  }

  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#close();
  }

  get destroyed(): boolean {
    return this.#destroyed;
  }

  /** Libraries take commands and subscriptions for a socket that is gone, and some never say anything of them again. */
  refuseUnless(writable: boolean): void {
    if (writable && !this.#destroyed) return;
    throw this.#ended("not-sent", "the connection was destroyed");
  }

  /**
   * What the failure of a command means that the library had taken. While the connection lives, the one thing that fails a
   * command is an error reply: what else libraries do so (time-outs, full queues) is switched off. When it has ended, they
   * reject with one error what they had not yet written, what they had, and all that behind it, so all of it is unknown.
   */
  failure(error: unknown): CommandFailure {
    if (error instanceof CommandFailure) return error;
    const text = error instanceof Error ? error.message : String(error);
    if (this.#destroyed || !(error instanceof Error)) return this.#ended("unknown", text, error);
    return refusal(error);
  }

  #ended(outcome: "not-sent" | "unknown", text: string, error?: unknown): CommandFailure {
    return new CommandFailure(outcome, this.#lostBy?.message ?? text, { cause: this.#lostBy ?? error });
  }
}
