import type { CommandArgument, Connection, Connector, Reply } from "../clients/port.js";
import { RelayedConnection } from "../clients/relayed-connection.js";
import type { Clock } from "../clock.js";
import { PunctualError } from "../errors.js";
import { warnOfListener } from "../listener-warning.js";
import {
  askServer,
  checkRights,
  fieldsOf,
  judge,
  type Send,
  type ServerFinding,
  type ServerNeeds,
  type ServerWarning,
} from "./server-check.js";

export interface ServerWatchOptions {
  readonly commands: readonly (readonly string[])[];
  /** That of this machine, which the clocks of servers are held against. */
  readonly clock: Pick<Clock, "now">;
  /** Hears of warnings. What it throws, or rejects with, is a warning of the process. */
  readonly onWarning: (warning: ServerWarning) => unknown;
}

/** Servers that need not be looked at again, by the `run_id` of one run each. */
type Runs = Set<string>;

/** What the connections of one connector are for, and which servers they have led to. */
interface Way {
  readonly target: string;
  readonly durability: ServerNeeds["durability"];
  /** Those that could be used, or were borne with after a failover. */
  readonly runs: Runs;
}

/** Looks at each server that the connections of one engine lead to, once: at the first, and at another one after a failover. */
export class ServerWatch {
  readonly #options: ServerWatchOptions;
  /** By what each was needed for: those that have all that it takes, whoever asks. */
  readonly #sound = new Map<ServerNeeds["durability"], Runs>();
  readonly #warned = new Set<string>();

  constructor(options: ServerWatchOptions) {
    this.#options = options;
  }

  /**
   * A connector whose connections can be used for nothing while their server has a problem. Each has its own first server: in a
   * Cluster the connector of another slot leads to another node, and that is no failover.
   */
  over(inner: Connector, durability?: ServerNeeds["durability"]): Connector {
    const way: Way = { target: inner.target, durability, runs: new Set() };
    return {
      target: inner.target,
      ...(inner.load === undefined ? {} : { load: () => inner.load?.() ?? Promise.resolve() }),
      ...(inner.shardedChannels === undefined ? {} : { shardedChannels: inner.shardedChannels }),
      connect: async (timeout) => new CheckedConnection(await inner.connect(timeout), (send) => this.#check(send, way)),
    };
  }

  async #check(send: Send, { target, durability, runs }: Way): Promise<void> {
    const sound = this.#sound.get(durability) ?? new Set();
    this.#sound.set(durability, sound);
    // Who may not ask need not be refused, and logged, with each connection.
    if (sound.has("")) return;
    if (runs.size > 0 || sound.size > 0) {
      // A connection to a server that is known asks for no more than which it is.
      const run = await runOf(send);
      if (sound.has(run)) runs.add(run);
      if (runs.has(run)) return;
    }
    const report = await askServer(send, this.#options.clock);
    const run = report.info.get("run_id") ?? "";
    const needs = { durability, commands: this.#options.commands };
    const findings = judge(report, needs).map((finding) => (runs.size > 0 ? passing(finding) : finding));
    const problem = findings.find(({ level }) => level === "problem");
    if (problem !== undefined) {
      throw new PunctualError("misconfigured", `Cannot use ${target}: ${problem.message}`, {
        details: { problem: problem.code },
      });
    }
    runs.add(run);
    if (findings.every(({ code }) => code !== "replicas")) sound.add(run);
    this.#warn(run, findings);
    // It takes a round trip more and changes nothing, so nobody waits for it.
    checkRights(send, report, needs).then(
      (rights) => this.#warn(run, rights),
      () => {},
    );
  }

  #warn(run: string, findings: readonly ServerFinding[]): void {
    for (const finding of findings) {
      if (finding.level !== "warning") continue;
      const { code, message, gist = message } = finding;
      // Several connections look at one server, and what they need differs.
      const name = `${run} ${code} ${gist}`;
      if (this.#warned.has(name)) continue;
      this.#warned.add(name);
      settled
        .then(() => this.#options.onWarning({ code, message }))
        .catch((thrown: unknown) => warnOfListener("onWarning", thrown));
    }
  }
}

/**
 * After a failover the replica is often gone that became the primary, or is not back yet. A schedule is then stored and tells
 * that it is not confirmed, which is better than to store nothing.
 */
function passing(finding: ServerFinding): ServerFinding {
  return finding.code === "replicas" ? { level: "warning", code: finding.code, message: finding.message } : finding;
}

const settled = Promise.resolve();

async function runOf(send: Send): Promise<string> {
  try {
    return fieldsOf(await send("INFO", "server")).get("run_id") ?? "";
  } catch {
    // It may not be asked, or is out of reach, which the commands that follow will tell.
    return "";
  }
}

/** A connection of which no reply comes out before its server was looked at. What is sent meanwhile is on its way already. */
class CheckedConnection extends RelayedConnection {
  #checking: Promise<unknown> | undefined;

  constructor(inner: Connection, check: (send: Send) => Promise<void>) {
    super(inner);
    const checking = check((...command) => inner.send(command));
    this.#checking = checking;
    checking.then(
      () => (this.#checking = undefined),
      () => {},
    );
  }

  override async send(command: readonly CommandArgument[]): Promise<Reply> {
    const reply = super.send(command);
    if (this.#checking !== undefined) {
      // Whichever fails first, the other has been heard.
      reply.catch(() => {});
      await this.#checking;
    }
    return await reply;
  }
}
