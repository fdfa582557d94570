import { createHash } from "node:crypto";
import type { CommandArgument, Reply } from "../../clients/port.js";
import type { Clock } from "../../clock.js";
import type { CallOptions } from "../../engine.js";

/** A Lua script as the server knows it. */
export interface Script {
  readonly name: string;
  readonly source: string;
  /** Hex SHA-1 of the source, by which EVALSHA names it. */
  readonly sha1: string;
}

export function defineScript(name: string, source: string): Script {
  return { name, source, sha1: createHash("sha1").update(source).digest("hex") };
}

export interface Evaluation {
  readonly reply: Reply;
  /**
   * An earlier attempt of this call ended without a reply, so the script may have run before this reply. Each operation says
   * what that makes of its answer.
   */
  readonly uncertain: boolean;
}

/** Runs scripts on the server, whatever happens to the connection meanwhile. */
export interface Evaluator {
  /** The server's time, as estimated from its replies. */
  readonly clock: Clock;
  /**
   * Runs a script once or, where an attempt failed or was lost, again, until `timeout` (default 10 s) is over or `signal`
   * aborts. Puts in front of `args`, as ARGV[1], the server time in ms after which the script must refuse to run. Every
   * script answers with an array whose first element is the server's time in ms, as text.
   */
  evaluate(
    script: Script,
    keys: readonly string[],
    args: readonly CommandArgument[],
    options?: CallOptions,
  ): Promise<Evaluation>;
}
