import { type CommandArgument, CommandFailure, type Reply } from "../clients/port.js";
import type { Clock } from "../clock.js";
import type { Durability } from "./durable.js";
import { knownFlaws, type ServerVersion, versionBelow, versionOf } from "./server-flaws.js";

/** Something about a server by which messages can be lost, come at another time than was meant, calls be refused, or worse. */
export interface ServerWarning {
  /** What it is about; `flaw`: of its version. */
  readonly code: "flaw" | "eviction" | "persistence" | "replicas" | "rights" | "clock";
  /** What is so, with what value, and what to do about it. */
  readonly message: string;
}

/** Something about a server that whoever runs it should know. A `problem` cannot work. */
export type ServerFinding =
  | ({
      readonly level: "warning";
      /** What it says without the figures that differ with each look, so that it is told once. Default: the message. */
      readonly gist?: string;
    } & ServerWarning)
  | { readonly level: "problem"; readonly code: "version" | "replicas" | "fsync"; readonly message: string };

/** What the server is to be held against. */
export interface ServerNeeds {
  /** What schedules are to wait for. */
  readonly durability?: Durability | undefined;
  /** Commands that have to be allowed, each as it could be sent. Asked for where the server lets the user ask (`ACL DRYRUN`). */
  readonly commands?: readonly (readonly string[])[] | undefined;
}

/** Sends one command; rejects with a `CommandFailure`. */
export type Send = (...command: readonly CommandArgument[]) => Promise<Reply>;

/** What a server says of itself; what the user may not ask is left out. */
export interface ServerReport {
  /** The fields of INFO; empty when that may not be asked. */
  readonly info: ReadonlyMap<string, string>;
  /** When INFO was sent and answered, Unix ms by this machine. */
  readonly sentAt: number;
  readonly answeredAt: number;
  /** When it takes snapshots, by its configuration; empty text for never. */
  readonly snapshots: string | undefined;
  /** When it sees to it that its append-only file is on the disk: `always`, `everysec` or `no`. */
  readonly appendfsync: string | undefined;
  readonly user: string | undefined;
}

/**
 * Asks in one round trip.
 * @param clock That of this machine.
 */
export async function askServer(send: Send, clock: Pick<Clock, "now">): Promise<ServerReport> {
  const sentAt = clock.now();
  const [[info, answeredAt], save, fsync, user] = await Promise.all([
    unlessRefused(send("INFO")).then((answer) => [answer, clock.now()] as const),
    // One at a time: several are allowed since Redis 7.0.
    unlessRefused(send("CONFIG", "GET", "save")),
    unlessRefused(send("CONFIG", "GET", "appendfsync")),
    unlessRefused(send("ACL", "WHOAMI")),
  ]);
  const [, snapshots] = Array.isArray(save) ? save.map(String) : [];
  const [, appendfsync] = Array.isArray(fsync) ? fsync.map(String) : [];
  return {
    info: fieldsOf(info),
    sentAt,
    answeredAt,
    snapshots,
    appendfsync,
    user: user === undefined ? undefined : String(user),
  };
}

/** The fields of an answer to INFO. */
export function fieldsOf(info: Reply | undefined): ReadonlyMap<string, string> {
  const lines = String(info ?? "").split(/\r?\n/);
  return new Map(
    lines.flatMap((line) => {
      const colon = line.indexOf(":");
      return colon > 0 && !line.startsWith("#") ? [[line.slice(0, colon), line.slice(colon + 1)] as const] : [];
    }),
  );
}

/** What of it matters, by what is needed; nothing when the user may not run INFO. */
export function judge(report: ServerReport, { durability }: ServerNeeds): ServerFinding[] {
  const { info, snapshots, appendfsync } = report;
  if (info.size === 0) return [];
  const version = versionOf(info);
  return [
    ...versionFindings(version, durability?.fsync === true && (appendfsync ?? "everysec") === "everysec"),
    ...evictionFindings(info),
    ...persistenceFindings(info, snapshots),
    ...clockFindings(report),
    ...(durability === undefined ? [] : durabilityFindings(info, version, durability)),
  ];
}

const oldest = "6.2.0";
/** The first with WAITAOF. */
const firstToConfirmDisks = "7.2.0";

function versionFindings(version: ServerVersion, waitsForFsyncs: boolean): ServerFinding[] {
  if (version.compatible !== "" && versionBelow(version.compatible, oldest)) {
    const message = `The server is ${version.text}; punctual needs Redis 6.2 or newer.`;
    return [{ level: "problem", code: "version", message }];
  }
  return knownFlaws(version, { waitsForFsyncs }).map((message) => ({ level: "warning", code: "flaw", message }));
}

function evictionFindings(info: ReadonlyMap<string, string>): ServerFinding[] {
  const policy = info.get("maxmemory_policy") ?? "";
  const limit = Number(info.get("maxmemory") ?? 0);
  // Policies of the kind volatile-* take keys with a time to live, and none of ours has one.
  if (!policy.startsWith("allkeys-") || limit === 0) return [];
  const message = `maxmemory-policy is ${policy}: at its memory limit (${limit} bytes) Redis deletes messages, and tells nobody. Set it to noeviction.`;
  return [{ level: "warning", code: "eviction", message }];
}

function persistenceFindings(info: ReadonlyMap<string, string>, snapshots: string | undefined): ServerFinding[] {
  const warning = (message: string): ServerFinding => ({ level: "warning", code: "persistence", message });
  const isAppending = info.get("aof_enabled") === "1";
  if (info.get("aof_enabled") === "0" && snapshots === "")
    return [warning("Redis writes nothing to its disk: a restart loses all messages. Set appendonly yes.")];
  const failed = [
    ["rdb_last_bgsave_status", "save a snapshot", true],
    ["aof_last_write_status", "write to its append-only file", isAppending],
    ["aof_last_bgrewrite_status", "rewrite its append-only file", isAppending],
  ] as const;
  return failed
    .filter(([field, , concerned]) => concerned && info.get(field) === "err")
    .map(([field, what]) =>
      warning(`The last time that Redis tried to ${what} it failed (${field}:err); its log says why.`),
    );
}

function durabilityFindings(
  info: ReadonlyMap<string, string>,
  version: ServerVersion,
  { replicas, fsync }: Durability,
): ServerFinding[] {
  const problem = (code: "replicas" | "fsync", message: string): ServerFinding => ({ level: "problem", code, message });
  const findings: ServerFinding[] = [];
  const connected = Number(info.get("connected_slaves") ?? Number.NaN);
  if (connected < replicas) {
    const message = `durability wants ${replicas} replicas, and ${connected} are connected: connect more, or want fewer.`;
    findings.push(problem("replicas", message));
  }
  if (fsync && version.compatible !== "" && versionBelow(version.compatible, firstToConfirmDisks)) {
    const message = `durability wants fsync, which Redis 7.2 or newer, or Valkey, can confirm, and the server is ${version.text}.`;
    findings.push(problem("fsync", message));
  } else if (fsync && info.get("aof_enabled") === "0") {
    const message = "durability wants fsync, and Redis writes no append-only file: set appendonly yes.";
    findings.push(problem("fsync", message));
  }
  return findings;
}

/** How far apart the clocks of two machines may be, ms. */
const tolerance = 1_000;

function clockFindings({ info, sentAt, answeredAt }: ServerReport): ServerFinding[] {
  const serverTime = Number(info.get("server_time_usec") ?? Number.NaN) / 1_000;
  const ahead = Math.round(serverTime - (sentAt + answeredAt) / 2);
  // It told the time at some moment of the round trip. When the clock of this machine steps back meanwhile, the answer comes
  // before the question.
  const unsure = Math.abs(answeredAt - sentAt) / 2;
  if (!(Math.abs(ahead) > tolerance + unsure)) return [];
  const [side, effect] = ahead > 0 ? ["ahead of", "early"] : ["behind", "late"];
  const message = `The clock of Redis is ${Math.abs(ahead)} ms ${side} that of this machine, so what is scheduled with \`at\`, a time by this machine, comes that much too ${effect}. Set both clocks right (NTP), or schedule with \`delay\`.`;
  return [{ level: "warning", code: "clock", message, gist: side }];
}

/** What NOPERM would meet. Who may not ask that, which takes rights of its own since Redis 7.0, is told nothing. */
export async function checkRights(send: Send, report: ServerReport, needs: ServerNeeds): Promise<ServerFinding[]> {
  const { user, info } = report;
  const [first, ...others] = needs.commands ?? [];
  if (user === undefined || first === undefined || versionBelow(versionOf(info).compatible, "7.0.0")) return [];
  const dryRun = (command: readonly string[]) => unlessRefused(send("ACL", "DRYRUN", user, ...command));
  const answer = await dryRun(first);
  if (answer === undefined) return [];
  const answers = [answer, ...(await Promise.all(others.map(dryRun)))];
  // Which keys and channels are allowed is not asked: queues are not known yet.
  const denied = [first, ...others].filter((_, index) => /no permissions to run/i.test(String(answers[index] ?? "")));
  if (denied.length === 0) return [];
  const names = denied.map(([name = "", sub = ""]) => (name === "SCRIPT" ? `${name} ${sub}` : name));
  const message = `The user ${user} of Redis may not run ${names.join(", ")}: calls that need it fail with misconfigured.`;
  return [{ level: "warning", code: "rights", message }];
}

/** `undefined` when the server does not answer that to this user, or does not know it. */
async function unlessRefused(reply: Promise<Reply>): Promise<Reply | undefined> {
  try {
    return await reply;
  } catch (error) {
    if (error instanceof CommandFailure && error.outcome === "refused") return undefined;
    throw error;
  }
}
