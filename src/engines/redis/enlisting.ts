import type { Clock } from "../../clock.js";
import type { Connected } from "../../connection/supervisor.js";
import type { CallOptions } from "../../engine.js";
import { PunctualError } from "../../errors.js";
import type { Evaluation, Script, ScriptArguments } from "../../scripting/script.js";

/** A connection on which nothing runs before the queue has said that it is split as this process believes. */
export class Enlisting implements Connected {
  readonly #inner: Connected;
  readonly #enlist: (options: CallOptions) => Promise<void>;
  #isEnlisted = false;

  /** `enlist` may run any number of times; it is asked until it succeeds, and what it fails with fails the call. */
  constructor(inner: Connected, enlist: (options: CallOptions) => Promise<void>) {
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

  async evaluate(
    script: Script,
    keys: readonly string[],
    args: ScriptArguments,
    options: CallOptions = {},
  ): Promise<Evaluation> {
    if (this.#isEnlisted) return await this.#inner.evaluate(script, keys, args, options);
    const began = this.clock.elapsed();
    try {
      await this.#enlist(options);
    } catch (error) {
      // Whether it noted the number is of no concern to the caller, of whose call nothing was sent.
      if (!(error instanceof PunctualError) || error.code !== "outcome-unknown") throw error;
      throw new PunctualError("not-sent", error.message, { cause: error.cause, details: error.details });
    }
    this.#isEnlisted = true;
    const { timeout } = options;
    const left = timeout === undefined ? undefined : Math.max(timeout - (this.clock.elapsed() - began), 0);
    return await this.#inner.evaluate(script, keys, args, { ...options, timeout: left });
  }

  subscribe(...call: Parameters<Connected["subscribe"]>): ReturnType<Connected["subscribe"]> {
    return this.#inner.subscribe(...call);
  }

  onState(...call: Parameters<Connected["onState"]>): ReturnType<Connected["onState"]> {
    return this.#inner.onState(...call);
  }
}
