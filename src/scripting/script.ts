import { createHash } from "node:crypto";
import type { CommandArgument, Reply } from "../clients/port.js";
import type { Clock } from "../clock.js";
import type { CallOptions } from "../engine.js";

/** A Lua script as the server knows it. */
export interface Script {
  readonly name: string;
  readonly source: string;
  /** Hex SHA-1 of the source, by which EVALSHA names it. */
  readonly sha1: string;
  /**
   * Whether an attempt that hung on its way may come to run after a later one was answered: it only reads, or what it would do
   * is fenced by a token, or it does what has to be done anyway. The answer of any other waits until no attempt can run.
   */
  readonly harmlessWhenLate: boolean;
}

/** A script that says which keys it works on. */
export interface KeyedScript<Key extends string> extends Script {
  /** What its header calls its keys, in that order. */
  readonly keyNames: readonly Key[];
  /** Its keys among those of a queue, as `evaluate` takes them; one that the queue does not have is a mistake of types. */
  keysIn(keys: Readonly<Record<Key, string>>): string[];
}

export function defineScript<const Key extends string = never>(
  name: string,
  source: string,
  { keys: keyNames = [], harmlessWhenLate = false }: { keys?: readonly Key[]; harmlessWhenLate?: boolean } = {},
): KeyedScript<Key> {
  return {
    name,
    source,
    sha1: createHash("sha1").update(source).digest("hex"),
    harmlessWhenLate,
    keyNames,
    keysIn: (keys) => keyNames.map((key) => keys[key]),
  };
}

/** The arguments of a script; made anew for each attempt where they say whether an earlier one ended without a reply. */
export type ScriptArguments = readonly CommandArgument[] | ((again: boolean) => readonly CommandArgument[]);

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
   * aborts. Puts in front of `args`, as ARGV[1], the server time in ms after which the script must refuse to run; it grows with
   * each attempt. Every script answers with an array whose first element is the server's time in ms, as text.
   *
   * After a lost reply the answer comes once no attempt can run any more, at most 2 s later, unless that is harmless.
   */
  evaluate(script: Script, keys: readonly string[], args: ScriptArguments, options?: CallOptions): Promise<Evaluation>;
}
