import type { CommandFailure } from "../clients/port.js";
import type { ErrorCode } from "../errors.js";
import type { Script } from "../scripting/script.js";
import { isMissingInScript, missingCommands } from "./missing-right.js";

/** What to do about a call that failed. */
export interface Remedy {
  /**
   * - `repeat`: send it again at once;
   * - `repeat-later`: after a pause that grows from 50 ms to 2 s;
   * - or give it up with this error code.
   */
  readonly action: "repeat" | "repeat-later" | Extract<ErrorCode, "storage-full" | "misconfigured" | "refused">;
  /** Whether the connection is of no more use, so that a new one is made. */
  readonly dropConnection: boolean;
  /** For people: what the error means here, where its own text does not say it. */
  readonly advice?: string;
}

const repeat: Remedy = { action: "repeat", dropConnection: false };
const repeatLater: Remedy = { action: "repeat-later", dropConnection: false };
const repeatElsewhere: Remedy = { action: "repeat-later", dropConnection: true };
const misconfigured = (advice: string, dropConnection = false): Remedy => ({
  action: "misconfigured",
  dropConnection,
  advice,
});

const clusterNode =
  "the server is a node of a Redis Cluster, and was addressed as a single server: give the URLs of some nodes as nodes instead of url";

/** By the first word of the error reply. None of these ran, except where said. */
const remedies: Readonly<Record<string, Remedy>> = {
  NOSCRIPT: repeat,
  // Ours: the script came to run later than the call allowed. The error says what time it is.
  TOOLATE: repeat,

  LOADING: repeatLater,
  BUSY: repeatLater,
  CLUSTERDOWN: repeatLater,
  TRYAGAIN: repeatLater,

  // This server is no primary any more. A new connection may lead to the one that is.
  READONLY: repeatElsewhere,
  MASTERDOWN: repeatElsewhere,
  UNBLOCKED: repeatElsewhere,

  // Ours: in a Cluster, another node serves the queue now, or none does yet. A new connection looks for it.
  ELSEWHERE: repeatElsewhere,

  OOM: { action: "storage-full", dropConnection: false, advice: "Redis is at its memory limit (maxmemory)" },

  MISCONF: misconfigured("Redis refuses writes because it cannot save its files"),
  NOREPLICAS: misconfigured("Redis refuses writes because too few replicas are connected (min-replicas-to-write)"),
  NOAUTH: misconfigured("Redis asks for a password and none was given", true),
  WRONGPASS: misconfigured("Redis does not accept the user or the password"),
  NOPERM: misconfigured("the user of Redis lacks a right that is needed"),
  // An operation may have done a part of its work before it met the foreign value.
  WRONGTYPE: misconfigured("a key of the queue holds a value of another kind, which something else has written"),
  CROSSSLOT: misconfigured("the keys of one queue are spread over several slots; this is a fault in punctual"),
  MOVED: misconfigured(clusterNode),
  ASK: misconfigured(clusterNode),
  // Ours: the queue was written by a newer version.
  LAYOUT: misconfigured("the queue was written by a newer version of punctual, which this one cannot read"),
  // Ours: the queue is split otherwise than this process says.
  PARTITIONS: misconfigured(
    "another process has split this queue into a number of partitions that differs from the option `partitions` here; make them the same",
  ),
  // An unknown command, a script that stopped on an error of its own: an operation may have done a part of its work.
  ERR: misconfigured("Redis could not run the call"),
};

/**
 * What a failure of a call asks for.
 * @param script Which it met, if it did.
 */
export function remedyFor(failure: CommandFailure, script?: Pick<Script, "source">): Remedy {
  // The connection is dropped even where it may live: what is sent after a lost reply must not wait behind it.
  if (failure.outcome !== "refused") return { action: "repeat", dropConnection: true };
  const code = innermostCode(failure);
  if (code === "NOPERM") {
    const commands = missingCommands(failure.message, script?.source);
    if (commands.length > 0) return misconfigured(`the user of Redis lacks the right to run ${commands.join(" or ")}`);
  }
  return remedies[code] ?? { action: "refused", dropConnection: false };
}

/** What a connection that could not be made asks for: to try again, which is done anyway, or to tell the callers at once. */
export function isMisconfiguration(failure: CommandFailure): boolean {
  if (failure.outcome !== "refused" || /max number of clients/i.test(failure.message)) return false;
  return remedyFor(failure).action === "misconfigured";
}

/** Some servers wrap the error that a script met in one of their own. */
function innermostCode({ code, message }: CommandFailure): string {
  if (code !== "ERR") return code;
  if (isMissingInScript(message)) return "NOPERM";
  // Redis 6: "ERR Error running script (call to f_…): @user_script:3: -OOM command not allowed …"
  return /^ERR Error running script .*@user_script: ?\d+: -?([A-Z]{2,}) /.exec(message)?.[1] ?? code;
}
