import { RelayedConnected } from "../../connection/relayed-connected.js";
import type { Connected } from "../../connection/supervisor.js";
import type { CallOptions } from "../../engine.js";
import { PunctualError } from "../../errors.js";
import { quote } from "../../quote.js";
import type { Evaluation, Script, ScriptArguments } from "../../scripting/script.js";

/**
 * A connection for a queue that is refused where it is split otherwise than this process says. Redis knows the one number and
 * this process the other, and who reads the error needs both.
 */
export class TellingHowSplit extends RelayedConnected {
  readonly #queue: string;
  readonly #partitions: number;

  constructor(inner: Connected, queue: string, partitions: number) {
    super(inner);
    this.#queue = queue;
    this.#partitions = partitions;
  }

  override async evaluate(
    script: Script,
    keys: readonly string[],
    args: ScriptArguments,
    options?: CallOptions,
  ): Promise<Evaluation> {
    try {
      return await super.evaluate(script, keys, args, options);
    } catch (error) {
      throw this.#told(error);
    }
  }

  #told(error: unknown): unknown {
    if (!(error instanceof PunctualError) || error.details["reply"] !== "PARTITIONS") return error;
    const [, noted] = (error.cause instanceof Error && /PARTITIONS (\d+)/.exec(error.cause.message)) || [];
    if (noted === undefined) return error;
    const split = noted === "1" ? "not split into partitions" : `split into ${noted} partitions`;
    return new PunctualError(
      "misconfigured",
      `Queue ${quote(this.#queue)} is ${split}, and the option partitions here is ${this.#partitions}; make them the same, or see docs/how-to/partitions.md.`,
      { cause: error.cause, details: error.details },
    );
  }
}
