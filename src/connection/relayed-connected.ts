import type { Clock } from "../clock.js";
import type { Evaluation, Script, ScriptArguments } from "../scripting/script.js";
import type { Connected, EvaluateOptions } from "./supervisor.js";

/** A connection that hands everything on to another one; what extends it says what it does otherwise. */
export class RelayedConnected implements Connected {
  readonly #inner: Connected;

  constructor(inner: Connected) {
    this.#inner = inner;
  }

  get clock(): Connected["clock"] & Clock {
    return this.#inner.clock;
  }

  get closed(): boolean {
    return this.#inner.closed;
  }

  get connectionCount(): number {
    return this.#inner.connectionCount;
  }

  get shardedChannels(): boolean {
    return this.#inner.shardedChannels;
  }

  evaluate(
    script: Script,
    keys: readonly string[],
    args: ScriptArguments,
    options: EvaluateOptions = {},
  ): Promise<Evaluation> {
    return this.#inner.evaluate(script, keys, args, options);
  }

  subscribe(...call: Parameters<Connected["subscribe"]>): ReturnType<Connected["subscribe"]> {
    return this.#inner.subscribe(...call);
  }

  onState(...call: Parameters<Connected["onState"]>): ReturnType<Connected["onState"]> {
    return this.#inner.onState(...call);
  }
}
