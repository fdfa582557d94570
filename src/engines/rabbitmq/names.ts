/** The names of exchanges and queues in the broker. A prefix and the name of a queue hold no slash, so none are the same. */
export class Names {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** The exchange and the queue of one level of the ladder; one shape of name for all, so that they sort. */
  level(level: number): string {
    return `${this.#prefix}/delay/${String(level).padStart(2, "0")}`;
  }

  /** The exchange below the lowest level, which hands messages to the queues of consumers. */
  get due(): string {
    return `${this.#prefix}/due`;
  }

  /** The exchange of the plugin. */
  get delayed(): string {
    return `${this.#prefix}/delayed`;
  }

  /** The name of a queue as one word of a routing key, of which a dot would make two. */
  word(queue: string): string {
    return queue.replaceAll(".", "/");
  }

  /** The queue from which consumers take what is due. */
  work(queue: string): string {
    return `${this.#prefix}/queue/${queue}`;
  }

  /** The queue in which dead letters lie. */
  dead(queue: string): string {
    return `${this.#prefix}/dead/${queue}`;
  }
}
