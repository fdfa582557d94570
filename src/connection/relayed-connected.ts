import type { Clock } from "../clock.js";
import type { CallOptions } from "../engine.js";
import type { Evaluation, Script, ScriptArguments } from "../scripting/script.js";
import type { Connected } from "./supervisor.js";

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

  get connections(): number {
    return this.#inner.connections;
  }

  get shardedChannels(): boolean {
    return this.#inner.shardedChannels;
  }

  evaluate(
    script: Script,
    keys: readonly string[],
    args: ScriptArguments,
    options: CallOptions = {},
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
