import type { Clock } from "../../clock.js";
import type { Connected } from "../../connection/supervisor.js";
import type { Evaluation } from "../../scripting/script.js";

/** A connection on which nothing runs before the queue has said that it is split as this process believes. */
export class Enlisting implements Connected {
  readonly #inner: Connected;
  readonly #enlist: () => Promise<void>;
  #isEnlisted = false;

  /** `enlist` is asked until it succeeds; it fails the call that it is asked for. */
  constructor(inner: Connected, enlist: () => Promise<void>) {
    this.#inner = inner;
    this.#enlist = enlist;
  }

  get clock(): Connected["clock"] & Clock {
    return this.#inner.clock;
  }

  get closed(): boolean {
    return this.#inner.closed;
  }

  get shardedChannels(): boolean {
    return this.#inner.shardedChannels;
  }

  async evaluate(...call: Parameters<Connected["evaluate"]>): Promise<Evaluation> {
    if (!this.#isEnlisted) {
      await this.#enlist();
      this.#isEnlisted = true;
    }
    return this.#inner.evaluate(...call);
  }

  subscribe(...call: Parameters<Connected["subscribe"]>): ReturnType<Connected["subscribe"]> {
    return this.#inner.subscribe(...call);
  }

  onState(...call: Parameters<Connected["onState"]>): ReturnType<Connected["onState"]> {
    return this.#inner.onState(...call);
  }
}

/** Runs `enlist` once for all that ask at the same time; after a failure the next one asks again. */
export function once(enlist: () => Promise<void>): () => Promise<void> {
  let enlisted: Promise<void> | undefined;
  return () => {
    enlisted ??= enlist().catch((error: unknown) => {
      enlisted = undefined;
      throw error;
    });
    return enlisted;
  };
}
