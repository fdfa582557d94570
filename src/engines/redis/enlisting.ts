import { RelayedConnected } from "../../connection/relayed-connected.js";
import type { Connected, EvaluateOptions } from "../../connection/supervisor.js";
import type { Evaluation, Script, ScriptArguments } from "../../scripting/script.js";
import type { PartitionsNote } from "./partitions-note.js";

/**
 * A connection on which nothing runs before the queue has said that it is split as this process believes: not at first, and
 * not on the connection that comes after a lost one, with what was called meanwhile.
 */
export class Enlisting extends RelayedConnected {
  readonly #link: Connected;
  readonly #note: PartitionsNote;

  /** @param link A supervisor: partitions that share it share its notes. */
  constructor(link: Connected, note: PartitionsNote) {
    super(link);
    this.#link = link;
    this.#note = note;
    note.covers(link);
  }

  override async evaluate(
    script: Script,
    keys: readonly string[],
    args: ScriptArguments,
    options: EvaluateOptions = {},
  ): Promise<Evaluation> {
    return await super.evaluate(script, keys, args, {
      ...options,
      prepare: (patience) => this.#note.heldOn(this.#link, patience, options.signal),
    });
  }
}
