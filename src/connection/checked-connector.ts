import type { CommandArgument, Connection, Connector, Reply } from "../clients/port.js";
import { RelayedConnection } from "../clients/relayed-connection.js";
import type { Clock } from "../clock.js";
import { PunctualError } from "../errors.js";
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
  /** Hears of warnings. What it throws is nobody's here: a rejection that is not handled. */
  readonly onWarning: (warning: ServerWarning) => void;
}

/** Looks at each server that the connections of one engine lead to, once: at the first, and at another one after a failover. */
export class ServerWatch {
  readonly #options: ServerWatchOptions;
  /** By what each was needed for: the `run_id` of servers that can be used for it, of one run each. */
  readonly #known = new Map<ServerNeeds["durability"], Set<string>>();
  readonly #warned = new Set<string>();

  constructor(options: ServerWatchOptions) {
    this.#options = options;
  }

  /** A connector whose connections can be used for nothing while their server has a problem. */
  over(inner: Connector, durability?: ServerNeeds["durability"]): Connector {
    return {
      target: inner.target,
      ...(inner.load === undefined ? {} : { load: () => inner.load?.() ?? Promise.resolve() }),
      ...(inner.shardedChannels === undefined ? {} : { shardedChannels: inner.shardedChannels }),
      connect: async (timeout) =>
        new CheckedConnection(await inner.connect(timeout), (send) => this.#check(send, inner.target, durability)),
    };
  }

  async #check(send: Send, target: string, durability: ServerNeeds["durability"]): Promise<void> {
    const known = this.#known.get(durability) ?? new Set();
    this.#known.set(durability, known);
    // Who may not ask need not be refused, and logged, with each connection.
    if (known.has("")) return;
    // A connection to a server that is known asks for no more than which it is.
    if (known.size > 0 && known.has(await runOf(send))) return;
    const report = await askServer(send, this.#options.clock);
    const run = report.info.get("run_id") ?? "";
    const needs = { durability, commands: this.#options.commands };
    const findings = judge(report, needs).map((finding) => (known.size > 0 ? passing(finding) : finding));
    const problem = findings.find(({ level }) => level === "problem");
    if (problem !== undefined) {
      throw new PunctualError("misconfigured", `Cannot use ${target}: ${problem.message}`, {
        details: { problem: problem.code },
      });
    }
    known.add(run);
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
      const { code, message } = finding;
      // Several connections look at one server. What they need differs; so do the times at which they look, by a few ms.
      const name = code === "clock" ? `${run} ${code}` : `${run} ${code} ${message}`;
      if (this.#warned.has(name)) continue;
      this.#warned.add(name);
      void settled.then(() => this.#options.onWarning({ code, message }));
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
