import type { Dropped } from "../engine.js";

/** Passes on what an engine tells of dropped dead letters to the consumers of its queue. */
export class Drops {
  readonly #listeners = new Set<(dropped: Dropped) => void>();

  /** Calls the listener from now on, until the function that it returns is called. */
  listen(listener: (dropped: Dropped) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  tell(dropped: Dropped): void {
    // A copy: a consumer may close, and another start, because of it.
    for (const listener of Array.from(this.#listeners)) listener(dropped);
  }
}
