import { ConnectionLife } from "./connection-life.js";
import type { CommandArgument, Connection, Reply } from "./port.js";

/** A connection on top of another one, which can be declared to be of no more use while the other still lives. */
export class RelayedConnection implements Connection {
  readonly #inner: Connection;
  readonly #life: ConnectionLife;

  /** @param onEnd Called once, when it was lost or destroyed. */
  constructor(inner: Connection, onEnd: () => void = () => {}) {
    this.#inner = inner;
    this.#life = new ConnectionLife(() => {
      inner.destroy();
      onEnd();
    });
    inner.onLost((cause) => this.#life.lose(cause));
  }

  send(command: readonly CommandArgument[]): Promise<Reply> {
    return this.#inner.send(command);
  }

  subscribe(channel: string, onMessage: (message: Buffer) => void, sharded?: boolean): Promise<void> {
    return this.#inner.subscribe(channel, onMessage, sharded);
  }

  unsubscribe(channel: string): Promise<void> {
    return this.#inner.unsubscribe(channel);
  }

  onLost(listener: (cause: Error) => void): void {
    this.#life.onLost(listener);
  }

  /** Ends it and says so, as if the server had. */
  lose(cause: Error): void {
    this.#life.lose(cause);
  }

  destroy(): void {
    this.#life.destroy();
  }
}
