/** Which server it is. */
export interface ServerVersion {
  readonly family: "Redis" | "Valkey";
  /** Its own version; of Valkey, not that of Redis which it tells for the sake of clients. */
  readonly own: string;
  /** The version of Redis with whose commands it comes; empty when it does not say. */
  readonly compatible: string;
  /** For people. */
  readonly text: string;
}

/** By INFO. */
export function versionOf(info: ReadonlyMap<string, string>): ServerVersion {
  const compatible = info.get("redis_version") ?? "";
  const valkey = info.get("server_name") === "valkey" ? info.get("valkey_version") : undefined;
  return valkey === undefined
    ? { family: "Redis", own: compatible, compatible, text: `Redis ${compatible}` }
    : { family: "Valkey", own: valkey, compatible, text: `Valkey ${valkey}` };
}

/** Whether one version is older than another; both are numbers with dots. */
export function versionBelow(version: string, other: string): boolean {
  const [one, two] = [partsOf(version), partsOf(other)];
  const at = one.findIndex((part, index) => part !== two[index]);
  return at >= 0 && (one[at] ?? 0) < (two[at] ?? 0);
}

/** How a server is used, as far as flaws depend on it. */
export interface ServerUse {
  /** Whether schedules wait for the disk, and Redis writes to that every second. */
  readonly waitsForFsyncs: boolean;
}

interface Flaw {
  /** The first mended version of each line; lines that are older than all of these have not been mended. */
  readonly mendedIn: Readonly<Record<ServerVersion["family"], readonly string[]>>;
  /** The first version that had it. Default: all had. */
  readonly since?: Readonly<Record<ServerVersion["family"], string>>;
  readonly concerns: (use: ServerUse) => boolean;
  readonly meaning: string;
}

/**
 * What concerns a program that runs scripts, and waits. A number alone does not decide: distributions mend flaws without
 * changing it.
 */
const flaws: readonly Flaw[] = [
  {
    // Release notes of Redis 6.2.20, 7.2.11, 7.4.6, 8.0.4 and 8.2.2 (3 October 2025), of Valkey 7.2.11, 8.0.6 and 8.1.4.
    mendedIn: { Redis: ["6.2.20", "7.2.11", "7.4.6", "8.0.4", "8.2.2"], Valkey: ["7.2.11", "8.0.6", "8.1.4"] },
    concerns: () => true,
    meaning: "let whoever may run scripts run code on the server (CVE-2025-49844)",
  },
  {
    // github.com/redis/redis/pull/13793, in Redis 7.4.3. On Valkey 8.0.1 seen with strace: six answers, one fdatasync.
    mendedIn: { Redis: ["7.4.3"], Valkey: [] },
    since: { Redis: "7.4.0", Valkey: "8.0.0" },
    concerns: ({ waitsForFsyncs }) => waitsForFsyncs,
    meaning: "confirm a write before it is on the disk (WAITAOF with appendfsync everysec; with always it does not)",
  },
];

/** What a server of this version may do, as sentences. */
export function knownFlaws(version: ServerVersion, use: ServerUse): string[] {
  return flaws
    .filter((flaw) => flaw.concerns(use) && isConcerned(version, flaw))
    .map(({ meaning }) => `${version.text} may ${meaning}. Update it, unless your distribution has mended that.`);
}

function isConcerned({ family, own }: ServerVersion, { mendedIn, since }: Flaw): boolean {
  if (own === "" || (since !== undefined && versionBelow(own, since[family]))) return false;
  const mended = mendedIn[family];
  const sameLine = mended.find((other) => lineOf(other) === lineOf(own));
  const newest = mended.at(-1);
  return newest === undefined || versionBelow(own, sameLine ?? newest);
}

const partsOf = (version: string): number[] => version.split(".").slice(0, 3).map(Number);
const lineOf = (version: string): string => version.split(".").slice(0, 2).join(".");
