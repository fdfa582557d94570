import { RelayedConnected } from "../../connection/relayed-connected.js";
import type { Connected } from "../../connection/supervisor.js";
import type { CallOptions } from "../../engine.js";
import { PunctualError } from "../../errors.js";
import type { Evaluation, Script, ScriptArguments } from "../../scripting/script.js";

/** A connection on which nothing runs before the queue has said that it is split as this process believes. */
export class Enlisting extends RelayedConnected {
  readonly #enlist: (options: CallOptions) => Promise<void>;
  #isEnlisted = false;

  /** `enlist` may run any number of times; it is asked until it succeeds, and what it fails with fails the call. */
  constructor(inner: Connected, enlist: (options: CallOptions) => Promise<void>) {
    super(inner);
    this.#enlist = enlist;
  }

  override async evaluate(
    script: Script,
    keys: readonly string[],
    args: ScriptArguments,
    options: CallOptions = {},
  ): Promise<Evaluation> {
    if (this.#isEnlisted) return await super.evaluate(script, keys, args, options);
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
    return await super.evaluate(script, keys, args, { ...options, timeout: left });
  }
}
