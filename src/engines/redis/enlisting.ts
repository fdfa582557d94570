import { RelayedConnected } from "../../connection/relayed-connected.js";
import type { Connected } from "../../connection/supervisor.js";
import type { CallOptions } from "../../engine.js";
import { PunctualError } from "../../errors.js";
import type { Evaluation, Script, ScriptArguments } from "../../scripting/script.js";

/** A connection on which nothing runs before the queue has said that it is split as this process believes. */
export class Enlisting extends RelayedConnected {
  readonly #noted: Pick<Connected, "connections">;
  readonly #enlist: (options: CallOptions) => Promise<void>;
  /** The connection on which it was said. On the next one Redis may have come back without it. */
  #enlistedOn: number | undefined;

  /**
   * `enlist` runs on `noted`, any number of times; it is asked until it succeeds, and what it fails with fails the call.
   */
  constructor(
    inner: Connected,
    noted: Pick<Connected, "connections">,
    enlist: (options: CallOptions) => Promise<void>,
  ) {
    super(inner);
    this.#noted = noted;
    this.#enlist = enlist;
  }

  override async evaluate(
    script: Script,
    keys: readonly string[],
    args: ScriptArguments,
    options: CallOptions = {},
  ): Promise<Evaluation> {
    if (this.#enlistedOn === this.#noted.connections) return await super.evaluate(script, keys, args, options);
    const began = this.clock.elapsed();
    try {
      await this.#enlist(options);
    } catch (error) {
      // Whether it noted the number is of no concern to the caller, of whose call nothing was sent.
      if (!(error instanceof PunctualError) || error.code !== "outcome-unknown") throw error;
      throw new PunctualError("not-sent", error.message, { cause: error.cause, details: error.details });
    }
    this.#enlistedOn = this.#noted.connections;
    const { timeout } = options;
    const left = timeout === undefined ? undefined : Math.max(timeout - (this.clock.elapsed() - began), 0);
    return await super.evaluate(script, keys, args, { ...options, timeout: left });
  }
}
